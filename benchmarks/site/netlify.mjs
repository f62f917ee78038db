// Holds netlify.toml and a built site's _redirects to Netlify's own packages: its configuration, header and redirect parsers.
//
//     npm install --prefix NODE @netlify/config @netlify/headers-parser @netlify/redirect-parser
//     NODE_PATH=NODE/node_modules node benchmarks/site/netlify.mjs [REPOSITORY] [SITE]
//
// Ends with 1 where a package finds fault, where a header is missing on an address that needs it, or where a redirect leads nowhere.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [repository, site] = [process.argv[2] ?? '.', process.argv[3] ?? 'public'].map(path => resolve(path));
const installed = createRequire(join(process.env.NODE_PATH ?? 'node_modules', 'nothing.js'));
const load = async name => import(pathToFileURL(installed.resolve(name)));
const faults = [];
const expect = (holds, said) => { if (!holds) faults.push(said); };

const { resolveConfig } = await load('@netlify/config');
const { parseAllHeaders } = await load('@netlify/headers-parser');
const { parseAllRedirects } = await load('@netlify/redirect-parser');

const { config } = await resolveConfig({
  repositoryRoot: repository, cwd: repository, offline: true, mode: 'cli', context: 'production', branch: 'main', buffer: true,
});
expect(config.build.command?.includes('make site'), 'no build command');
expect(config.build.publish === join(repository, 'public'), `publishes ${config.build.publish}`);

const headers = await parseAllHeaders({
  headersFiles: [], netlifyConfigPath: join(repository, 'netlify.toml'), configHeaders: [], minimal: false,
});
for (const error of headers.errors) faults.push(String(error));
const sent = path => Object.assign({}, ...headers.headers.filter(one => one.forRegExp.test(path)).map(one => one.values));
const [page, font, rows] = ['/', '/static/fonts/a.woff2', '/records/a/b/batches.parquet'].map(sent);
expect(page['Content-Security-Policy']?.startsWith("default-src 'none'"), 'a page without policy');
expect(!page['Content-Security-Policy']?.includes("'unsafe-"), 'a policy that allows what is unsafe');
expect(page['Cache-Control']?.includes('must-revalidate'), 'a page that is kept');
expect(font['Cache-Control']?.includes('immutable'), 'a font that is not kept');
expect(rows['Content-Type'] === 'application/vnd.apache.parquet', `Parquet as ${rows['Content-Type']}`);

const { redirects, errors } = await parseAllRedirects({
  redirectsFiles: [join(site, '_redirects')], netlifyConfigPath: join(repository, 'netlify.toml'), configRedirects: [], minimal: false,
});
for (const error of errors) faults.push(String(error));
expect(redirects.length > 0, 'no redirects');
for (const one of redirects) {
  expect(one.status === 302, `${one.from}: ${one.status}`);
  expect(existsSync(join(site, one.to, 'index.html')), `${one.from} leads to ${one.to}, where no page is`);
  expect(!existsSync(join(site, one.from, 'index.html')), `${one.from} has a page of its own`);
}
for (const fault of faults) console.error(fault);
console.log(`${headers.headers.length} rules for headers, ${redirects.length} redirects, ${faults.length} faults`);
process.exit(faults.length ? 1 : 0);
