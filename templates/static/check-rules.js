// The rules of docs/statistics.md on the rows of a record: the third road, held to docs/verdict-cases.json.
const known = v => v.filter(x => x != null), sort = v => known(v).sort((a, b) => a - b);
const to = (a, b) => Array.from({length: Math.max(0, b - a + 1)}, (_, i) => a + i);
const big = BigInt, least = Math.min, most = Math.max, sum = v => v.reduce((a, b) => a + b, 0n);
const memo = f => { const m = {}; return (...of) => m[of] ??= f(...of); };
const C = memo((n, k) => to(1, k).reduce((c, i) => c * big(n - i + 1) / big(i), 1n));
const tail = memo((n, k) => sum(to(0, k).map(i => C(n, i))));
const part = (a, b) => Number((a << 80n) / b) / 2 ** 80, chance = (n, k) => part(tail(n, k), 1n << big(n));

export const median = v => {
  const x = sort(v), n = x.length;
  return n ? (x[n - 1 >> 1] + x[n >> 1]) / 2 : null;
};

export const rankOf = memo((n, sides = 40) => to(1, n).findLast(l => big(sides) * tail(n, l - 1) <= 1n << big(n)) ?? null);

export const order = v => {
  const x = sort(v), n = x.length, rank = rankOf(n), l = rank ?? 1;
  return n ? {low: x[l - 1], high: x[n - l], rank, n, coverage: most(0, 1 - 2 * chance(n, l - 1))} : null;
};

// How many of the n^n resamples have the middle draws x(i), x(j).
export const law = memo(n => {
  const m = n + 1 >> 1, p = (a, b) => big(a) ** big(b), upTo = i => sum(to(m, n).map(u => C(n, u) * p(i, u) * p(n - i, n - u)));
  return to(1, n).flatMap(i => {
    const apart = n % 2 ? [] : to(i + 1, n).map(j => [i, j, C(n, m) * (p(i, m) - p(i - 1, m)) * (p(n - j + 1, m) - p(n - j, m))]);
    return [[i, i, upTo(i) - upTo(i - 1) - sum(apart.map(w => w[2]))], ...apart];
  });
});

export const ends = (weighed, levels = [1, 39]) => {
  const all = sum(weighed.map(w => w[1]));
  weighed.sort((a, b) => a[0] - b[0]);
  const [low, high] = levels.map(level => { let seen = 0n; return weighed.find(w => 40n * (seen += w[1]) >= big(level) * all)?.[0]; });
  return {low, high};
};

const draws = memo(async (pause, digest, ...counts) => {
  const cut = z => big.asUintN(64, z);
  let state = big("0x" + digest.slice(0, 16));
  const draw = n => {
    let z = state = cut(state + 0x9E3779B97F4A7C15n);
    z = cut((z ^ z >> 30n) * 0xBF58476D1CE4E5B9n);
    z = cut((z ^ z >> 27n) * 0x94D049BB133111EBn);
    return Number((z ^ z >> 31n) * big(n) >> 64n);
  };
  const drawn = [];
  while (drawn.length < 2000) {
    drawn.push(counts.map(n => to(1, n).map(() => draw(n))));
    await pause();
  }
  return drawn;
});

// Rules 2 to 5.
const decide = async (tables, digest, pause) => {
  const h = tables.map(t => t.ks.map((_, k) => {
    const column = known(t.pairs.map(row => row[k]));
    return column.length && 2 * column.length >= t.pairs.length ? median(column) : null;
  }));
  const middle = pick => median(tables.flatMap((t, d) => t.pairs.map(row => median(pick(row, d)))));
  const values = h.map(known), pool = values.flat(), centre = median(pool), total = pool.length, ordered = order(pool), headline = middle(row => row);
  const less = values.map(v => v.filter(x => x < centre).length), all = less.reduce((a, b) => a + b, 0);
  const ps = values.map((v, d) => {
    const ways = to(0, v.length).map(k => C(all, k) * C(total - all, v.length - k));
    return 2 * least(...[ways.slice(0, less[d] + 1), ways.slice(less[d])].map(w => part(sum(w), C(total, v.length))));
  });
  const several = h.length > 1, device_p = several ? least(1, least(1, ...ps) * (h.length > 2 ? h.length : 1)) : null;
  const differ = several && device_p <= 0.05, intervals = h.map(order), of = known(differ ? intervals : [ordered]);
  const own = [least(...of.map(e => e.low)), most(...of.map(e => e.high))], low = least(own[0], headline), high = most(own[1], headline);
  const resampled = [];
  for (const picks of await draws(pause, digest, ...tables.map(t => t.ks.length))) {
    resampled.push([middle((row, d) => picks[d].map(k => row[k])), 1n]);
    await pause();
  }
  const shown = {headline, device_p, devices_agree: several ? !differ : null, n: total, coverage: ordered?.coverage ?? 0};
  shown.bootstrap = ends(resampled.filter(r => r[0] != null));
  shown.devices = tables.map((t, d) => ({device: t.device, repetitions: t.ks, h: h[d], interval: intervals[d]}));
  const tails = (differ ? values.filter(v => v.length) : [pool]).map(v => m => [x => x <= 1 + m, x => x >= 1 - m].map(side => chance(v.length, v.filter(side).length)));
  const p = m => least(1, 2 * least(...[0, 1].map(side => most(...tails.map(t => t(m)[side])))));
  if (ordered) Object.assign(shown, {estimate: centre, low, high, rank: ordered.rank, order_interval: {low: ordered.low, high: ordered.high}, stretched: low < own[0] || high > own[1], p_against_1: p(0)});
  return {shown, own, differ, p, low, high, enough: total > 5 && !(differ && least(...values.map(v => v.length)) < 6)};
};

// Rule 8.
const judge = ({own, differ, low, high, enough}, cells, s, f) => {
  const m = most(s, f), out = (l, h, by) => h < 1 - by || l > 1 + by, inside = (l, h) => s > 0 && 1 - s <= l && h <= 1 + s, within = inside(low, high);
  return !enough ? "too_few_repetitions" : out(low, high, m) ? "beyond_margin" : within && f > s ? "noise_floor"
    : within ? cells.some(c => out(c.interval.low, c.interval.high, s)) ? "fixtures_differ" : "within_margin"
    : differ ? "devices_disagree" : out(low, high, s) ? "noise_floor" : out(...own, m) || inside(...own) && f <= s ? "fixtures_differ"
    : out(low, high, 0) ? "direction_only" : "too_wide";
};

export function* read(text) {
  const field = RegExp('("(?:[^"]|"")*"|[^",\\n]*)(,|\\n|$)', "y");
  let head, row = [];
  while (field.lastIndex < text.length) {
    const [, cell, end] = field.exec(text);
    row.push(cell[0] === '"' ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === ",") continue;
    if (head) yield Object.fromEntries(head.map((name, at) => [name, row[at]]));
    head ??= row;
    row = [];
  }
}

// Rule 1: a row of batches.csv goes to its device; `whole` keeps what was left out or tagged.
export const gather = (devices, manifests, row, whole) => {
  if (!["process", "peer"].includes(row.mode) || row.warmup !== "false") return;
  const k = +row.repetition, {device, left_out} = manifests[row.attempt], where = `device ${row.device}, fixture ${row.fixture}, arm ${row.arm}, repetition ${k}: `;
  for (const name of ["launches", "elapsed_ns"]) if (!(row[name] > 0)) throw Error(`${where}${name} must be positive, not ${row[name]}`);
  if (device.id !== row.device) throw Error(`${where}its attempt is of another device`);
  const own = devices[device.id] ??= {...device, failed: [], times: {}, main: new Set(), peer: new Set()};
  if (!whole && left_out.some(one => one.repetition === k && (one.mode ?? "process") === row.mode)) return;
  own[row.group].add(k);
  const halves = (own.times[[row.group, row.fixture, row.arm]] ??= {})[k] ??= {};
  if (halves[row.pass]) throw Error(`${where}pass ${row.pass} stands twice`);
  if (whole || !row.tag) halves[row.pass] = row.elapsed_ns / row.launches;
};

const paired = ({arm, baseline, fixtures}, devices) => {
  const arms = [arm, baseline], both = (d, g) => fixtures.some(f => arms.every(a => d.times[[g, f, a]]));
  const group = ["main", "peer"].find(g => devices.some(d => both(d, g))) ?? "main";
  return devices.map(d => {
    const ks = [...d[group]].sort((a, b) => a - b);
    const pair = (f, k) => {
      const [a, b] = arms.map(name => d.times[[group, f, name]]?.[k] ?? {}).map(t => t[1] && t[2] && (t[1] + t[2]) / 2);
      return a && b ? a / b : null;
    };
    return {device: d.id, ks, pairs: fixtures.map(f => ks.map(k => pair(f, k)))};
  });
};

const cellsOf = (fixtures, tables) => tables.flatMap(t => fixtures.flatMap((fixture, at) => {
  const pair_ratio = t.pairs[at], x = sort(pair_ratio), middles = law(x.length).map(([i, j, w]) => [(x[i - 1] + x[j - 1]) / 2, w]);
  return x.length ? [{device: t.device, fixture, pair_ratio, ratio: median(x), interval: order(x), bootstrap: ends(middles)}] : [];
}));

// Rule 6: Holm over the candidates of a slice against one baseline.
const holm = results => {
  const p = r => r.verdict === "invalid" ? 1 : r.p_against_margin ?? 1, size = results.length;
  let most_ = 0;
  [...results].sort((a, b) => p(a) - p(b)).forEach((r, at) => {
    most_ = most(most_, least(1, p(r) * (size - at)));
    Object.assign(r, {holm_p: most_, holm_rank: at + 1, family_size: size, resolvable: r.n == null ? null : 2 ** (1 - r.n) <= 0.05 / size});
  });
};

// Every comparison of results.json again, in its order, and the noise floor of its slice.
export const recompute = async ({plan, smallest_effect: s, comparisons, noise}, record, pause) => {
  const all = [];
  for (const {arm, baseline, role, slice, fixtures} of comparisons) {
    const devices = Object.values(record).filter(d => !slice.includes(" @ ") || slice.endsWith(" @ " + d.model));
    const bad = [baseline, arm].map(name => devices.some(d => d.failed.includes(name))), failed = bad.includes(true);
    const tables = paired({arm, baseline, fixtures}, devices), cells = cellsOf(fixtures, tables);
    const found = !failed && cells.length && cells.length === fixtures.length * tables.length ? await decide(tables, plan, pause) : null;
    const isNull = noise.some(n => n.null === arm && n.of === baseline);
    all.push({baseline, role, slice, bad, found, isNull, cells: failed ? [] : cells});
    await pause(`${all.length} of ${comparisons.length} comparisons computed`);
  }
  for (const one of all) {
    const {found, bad, cells} = one, nulls = all.filter(a => a.isNull && a.slice === one.slice && a.found?.shown.low);
    const f = nulls.length ? most(...nulls.flatMap(a => [a.found.low, a.found.high].map(x => Math.abs(x - 1)))) : null, m = most(s, f);
    const same = nulls.filter(a => a.baseline === one.baseline).length;
    const reason = bad[0] ? "baseline_failed_check" : bad[1] ? "arm_failed_check" : !found ? "cell_without_data"
      : f == null ? "no_noise_floor" : judge(found, cells, s, f);
    const verdict = reason === "beyond_margin" ? found.high < 1 ? "faster" : "slower" : reason === "within_margin" ? "equivalent"
      : !found || f == null ? "invalid" : "inconclusive";
    const width = f != null && found?.shown.low && {margin: m, p_against_margin: found.p(m), smallest_effect_shown: found.enough ? m + (found.high - found.low) : null};
    one.floor = f;
    one.result = {verdict, reason, cells, valid_nulls: same, outrun_bound: 1 / (same + 1), ...found?.shown, ...width};
  }
  const families = new Map();
  for (const one of all.filter(a => a.role === "candidate")) families.set(one.slice + one.baseline, [...families.get(one.slice + one.baseline) ?? [], one.result]);
  families.forEach(holm);
  return all;
};
