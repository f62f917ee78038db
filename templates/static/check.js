// The button of a record's page: the record's files are fetched and hashed, its verdicts computed again and held against the page.
const place = document.getElementById("checker");
const add = (parent, tag, text, more) => parent.appendChild(Object.assign(document.createElement(tag), {textContent: text}, more));
const button = add(place, "button", "Check this record in your browser", {type: "button"});
const said = add(place, "p", place.dataset.cost, {role: "status"});
let since = 0;

// Lets the page breathe, and says how far it is.
const pause = async progress => {
  if (performance.now() - since < 40) return;
  if (progress) said.textContent = progress;
  await new Promise(go => setTimeout(go));
  since = performance.now();
};

// Two decimals; a tie goes to the even digit, as on the page.
const rounded = x => (x * 8 % 4 === 1 ? x - 1e-9 : x).toFixed(2);
const change = ratio => {
  if (ratio == null) return "–";
  const x = 100 * (ratio - 1), text = rounded(Math.abs(x));
  return (+text ? x > 0 ? "+" : "−" : "") + text + "%";
};
const near = (one, other) => Math.abs(one - other) <= 1e-12 * Math.max(1, Math.abs(other));
const agrees = (claimed, found) => {
  if (typeof found === "number" && typeof claimed === "number") return near(claimed, found);
  if (!found || typeof found !== "object") return (claimed ?? null) === (found ?? null);
  return !!claimed && (!found.length || found.length === claimed.length) && Object.keys(found).every(key => agrees(claimed[key], found[key]));
};

const fetched = async (name, hash, findings) => {
  const answer = await fetch(name, {cache: "no-cache"});
  if (!answer.ok) return findings.push(`${name}: cannot be fetched (${answer.status})`), {};
  const bytes = await answer.arrayBuffer(), digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const found = Array.from(digest, byte => byte.toString(16).padStart(2, "0")).join("");
  if (found !== hash) findings.push(`${name}: does not have the SHA-256 that this page lists`);
  return {found, text: /^(SHA256SUMS|batches\.csv|checks\.csv|results\.json|[^/]+\/manifest\.json)$/.test(name) ? new TextDecoder().decode(bytes) : ""};
};

const files = async findings => {
  const rows = [...document.querySelectorAll(".files tbody tr")], texts = {}, hashes = {};
  for (const [at, row] of rows.entries()) {
    const name = decodeURIComponent(row.querySelector("a").getAttribute("href"));
    if (name === "record.zip") continue;
    await pause(`${at} of ${rows.length - 1} files fetched; now ${name}`);
    const {found, text} = await fetched(name, row.querySelector(".hash").textContent, findings);
    hashes[name] = found;
    texts[name] = text;
  }
  const sums = Object.fromEntries((texts.SHA256SUMS ?? "").trim().split("\n").map(line => [line.slice(66), line.slice(0, 64)]));
  sums.SHA256SUMS = hashes.SHA256SUMS;
  for (const name in {...sums, ...hashes}) if (sums[name] !== hashes[name]) findings.push(`${name}: does not have the SHA-256 listed in SHA256SUMS`);
  return texts;
};

const computed = async (rules, texts) => {
  const results = JSON.parse(texts["results.json"]), record = {}, whole = {};
  const manifests = Object.fromEntries(Object.keys(texts).filter(name => name.endsWith("/manifest.json") && texts[name]).map(name => [name.split("/")[0], JSON.parse(texts[name])]));
  let rows = 0;
  for (const row of rules.read(texts["batches.csv"])) {
    rules.gather(record, manifests, row);
    if (results.with_left_out.length) rules.gather(whole, manifests, row, true);
    await pause(`${++rows} batches read`);
  }
  rows = 0;
  for (const row of rules.read(texts["checks.csv"])) {
    if (row.passed !== "true") for (const of of [record, whole]) of[row.device]?.failed.push(row.arm);
    await pause(`${++rows} checks read`);
  }
  const again = (lines, of) => rules.recompute({...results, comparisons: lines}, of, pause);
  return {results, found: await again(results.comparisons, record), left: await again(results.with_left_out, whole)};
};

const column = (row, name) => [...row.closest("table").tHead.rows[0].cells].findIndex(head => head.textContent.trim().startsWith(name));
const shown = cell => (cell.querySelector(".second") ?? cell).textContent;

// What the page says beside what was computed: [name, page, computed, whether they agree] for each comparison and noise floor.
const beside = ({results, found, left}, findings) => {
  const [derived, nulls] = ["comparisons", "nulls"].map(kind => document.querySelectorAll(`[id^="${kind}-"] tbody tr`));
  const lines = results.comparisons.map((claimed, at) => {
    const cells = [...derived[at].cells], {result} = found[at], figures = [result.headline, result.estimate, result.low, result.high];
    const page = [...cells.slice(2, 6).map(shown), cells[column(derived[at], "verdict")].firstChild.textContent.split(/\s/).pop()], own = [...figures.map(change), result.verdict];
    const exact = cells.slice(2, 6).every((cell, i) => figures[i] == null ? !cell.querySelector("data") : near(cell.querySelector("data")?.value, figures[i]));
    const named = cells[0].textContent === claimed.arm && cells[1].textContent === claimed.baseline;
    return [`${claimed.arm} against ${claimed.baseline}, ${claimed.slice}`, page, own, named && exact && page.join() === own.join() && agrees(claimed, result)];
  });
  const floors = results.noise.map((claimed, at) => {
    const cell = nulls[at].cells[4], {floor} = found.find(one => one.slice === claimed.slice), own = floor == null ? "–" : "±" + rounded(100 * floor) + "%";
    return [`noise floor by ${claimed.null}, ${claimed.slice}`, [cell.textContent], [own], cell.textContent === own && agrees(claimed.floor, floor)];
  });
  left.forEach(({result}, at) => agrees(results.with_left_out[at], result) || findings.push(`results.json: with_left_out ${at + 1} does not follow from the rows`));
  return [...lines, ...floors];
};

const table = lines => {
  const scroll = add(place, "div", "", {className: "scroll wide long", tabIndex: 0, role: "region", ariaLabel: "Page and rows beside each other"});
  const made = add(scroll, "table", ""), said = ([a, b, c, d, e]) => b ? `${a}; estimate ${b}, ${c} to ${d}; ${e}` : a;
  const head = add(add(made, "thead", ""), "tr", ""), body = add(made, "tbody", "");
  for (const text of ["Figure", "on this page", "from the rows", "agreement"]) add(head, "th", text, {scope: "col"});
  for (const [name, page, own, same] of lines) {
    const row = add(body, "tr", "");
    add(row, "th", name, {scope: "row"});
    for (const text of [said(page), said(own)]) add(row, "td", text);
    add(row, "td", same ? "agrees" : "DIFFERS", {className: same ? "" : "slower"});
  }
};

button.onclick = async () => {
  const findings = [];
  let lines = [];
  button.disabled = true;
  document.dispatchEvent(new Event("as-made"));
  place.querySelectorAll(".scroll, ul").forEach(old => old.remove());
  try {
    if (!globalThis.crypto?.subtle) throw Error("this browser offers no Web Crypto at this address (it asks for https); run verify.py instead");
    const texts = await files(findings);
    lines = beside(await computed(await import("./check-rules.js"), texts), findings);
    table(lines);
  } catch (fault) {
    findings.push(`the record cannot be computed: ${fault.message}`);
  }
  const wrong = findings.length + lines.filter(line => !line[3]).length;
  said.textContent = wrong ? `Not everything agrees: ${wrong} of it, below.` : `Every file and every figure agrees: ${lines.length} lines below, each computed again from the rows.`;
  if (findings.length) {
    const list = add(place, "ul", "");
    findings.forEach(line => add(list, "li", line));
  }
  button.disabled = false;
};
