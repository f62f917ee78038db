// Tables can be sorted by any column and narrowed to rows that hold some words; without scripts they stand as they were made.
const make = (tag, more, ...inside) => {
  const made = Object.assign(document.createElement(tag), more);
  made.append(...inside);
  return made;
};
const said = document.body.appendChild(make("p", {className: "unseen", role: "status"}));
const order = new Intl.Collator("en", {numeric: true});
const words = head => head.dataset.words;
const NOTHING = /^[–-]?$/;

// A cell as it is sorted: its full value where it has one, else its words; nothing is last in either direction.
const key = cell => {
  const value = cell.querySelector("data")?.getAttribute("value") ?? cell.textContent.trim();
  const number = parseFloat(value.replace("−", "-").replaceAll(",", ""));
  return NOTHING.test(value) ? null : cell.matches(".n") && !Number.isNaN(number) ? number : value;
};
const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : order.compare(a, b);

const arrange = (table, column, direction) => {
  const heads = table.tHead.rows[0].cells, body = table.tBodies[0];
  for (const head of heads) head.removeAttribute("aria-sort");
  if (direction) heads[column].setAttribute("aria-sort", direction);
  const sign = direction === "descending" ? -1 : 1;
  const keyed = table.made.map(row => [row, direction && key(row.cells[column])]);
  if (direction) keyed.sort(([, a], [, b]) => a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b));
  body.append(...keyed.map(([row]) => row));
  said.textContent = direction ? `Sorted by ${words(heads[column])}, ${direction}.` : "In the order in which the table was made.";
};
const NEXT = {ascending: "descending", descending: ""};

const sortable = table => {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.dataset.words = head.firstChild?.textContent ?? "";
    const button = make("button", {type: "button", className: "sort"}, ...head.childNodes);
    button.onclick = () => arrange(table, column, NEXT[head.getAttribute("aria-sort")] ?? "ascending");
    head.append(button);
  });
};

const siftable = (table, tools) => {
  const count = make("output", {textContent: `${table.made.length} rows`}), heads = [...table.tHead.rows[0].cells];
  const sift = make("input", {type: "search", autocomplete: "off", spellcheck: false});
  sift.oninput = () => {
    const asked = sift.value.toLowerCase().split(/\s+/);
    for (const row of table.made) row.hidden = !asked.every(word => row.textContent.toLowerCase().includes(word));
    const left = table.made.filter(row => !row.hidden).length;
    count.textContent = sift.value.trim() ? `${left} of ${table.made.length} rows` : `${table.made.length} rows`;
  };
  const choice = make("select", {}, make("option", {value: "", textContent: "as made"}));
  heads.forEach((head, at) => ["ascending", "descending"].forEach(way =>
    choice.append(make("option", {value: `${at} ${way}`, textContent: `${words(head)}, ${way}`}))));
  choice.onchange = () => arrange(table, ...choice.value.split(" "));
  tools.append(make("label", {}, "Only rows with ", sift), make("label", {className: "narrow"}, "Sort by ", choice), count);
  table.sift = sift;
};

const restore = table => {
  if (table.sift?.value) {
    table.sift.value = "";
    table.sift.oninput();
  }
};

const tables = [...document.querySelectorAll("main table:not(.files)")].filter(table => table.tHead && table.tBodies[0]?.rows.length > 2);
for (const table of tables) {
  table.made = [...table.tBodies[0].rows];
  sortable(table);
  const tools = table.closest("figure")?.querySelector(".tools");
  if (tools) siftable(table, tools);
}

// A link to a row that is not shown brings all rows back; whoever reads rows by their place asks for them as they were made.
addEventListener("hashchange", () => {
  const row = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("tr[hidden]");
  if (row) restore(row.closest("table"));
});
document.addEventListener("as-made", () => tables.forEach(table => {
  restore(table);
  if (table.querySelector("[aria-sort]")) arrange(table, 0, "");
}));
