// A bound figure opens a small card with its derivation; its link leads to the same row, with scripts or without.
const FIGURES = "a.number, a.fact, td a:has(data)";
const pages = new Map([[location.pathname, Promise.resolve(document)]]);
const card = document.body.appendChild(document.createElement("dialog"));
card.className = "card";
card.setAttribute("aria-labelledby", "card-title");
card.onclick = event => event.target === card && card.close();

const add = (parent, tag, text, more) => parent.appendChild(Object.assign(document.createElement(tag), {textContent: text}, more));

const pageAt = path => {
  const load = async () => {
    const answer = await fetch(path);
    if (!answer.ok) throw Error(String(answer.status));
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  };
  if (!pages.has(path)) pages.set(path, load());
  return pages.get(path);
};

const told = cell => [...cell.childNodes].map(node => node.textContent).join(" ").trim().replace(/\s+/g, " ");

// What stands at a place: of a row its cells under their headings, of a fact its words, of a sum its lines.
const parts = target => {
  if (target.matches("figure")) {
    return [...target.querySelectorAll("tbody tr")].map(row => {
      const [words, figure, times, amount] = [...row.cells].map(told);
      return [words, [figure, times && `times ${times}`, figure && amount && "makes", amount].filter(Boolean).join(" ")];
    });
  }
  if (!target.matches("tr")) return [[told(target.querySelector("dt") ?? target), told(target.querySelector("dd") ?? target)]];
  const heads = [...target.closest("table").tHead.rows[0].cells].map(head => head.dataset.words ?? head.firstChild?.textContent ?? "");
  return [...target.cells].map((cell, at) => {
    const value = cell.querySelector("data")?.getAttribute("value");
    return [heads[at], told(cell), value];
  });
};

const FOR = {"d-": /^(t|r|h|headline|estimate|interval|ratio by fixture|margin|smallest effect shown|rounding)$/, "h-": /^(h|margin|p)$/, "k-": /^$/, "g-": /^(t|saved|rounding)$/, "s-": /^(t|saved|rounding)$/, "n-": /^(interval|noise floor|rounding)$/, "t-": /^(t|rounding)$/};

const fill = (link, page, target) => {
  const value = link.querySelector("data")?.getAttribute("value") ?? "", figure = target.closest("figure");
  card.replaceChildren();
  const head = add(card, "div", "", {className: "card-head"});
  add(head, "h2", told(link), {id: "card-title"});
  add(head, "button", "Close", {type: "button", onclick: () => card.close()});
  if (value) add(card, "p", `In full: ${value}`, {className: "card-value"});
  add(card, "p", figure?.querySelector("figcaption")?.firstChild.textContent ?? page.querySelector("h1").textContent, {className: "card-place"});
  const list = add(card, "dl", "", {className: "formulas"});
  for (const [name, text, full] of parts(target)) {
    const line = add(list, "div", "", {className: value && full === value ? "asked" : ""});
    add(line, "dt", name);
    add(line, "dd", text);
  }
  const wanted = FOR[target.id.slice(0, 2)] ?? /^rounding$/;
  const formulas = [...page.querySelectorAll("#derivations ~ .formulas > div")].filter(line => wanted.test(told(line.children[0])));
  if (formulas.length) add(card, "h3", "What the words mean");
  const words = add(card, "dl", "", {className: "formulas"});
  for (const line of formulas) words.append(document.importNode(line, true));
  const note = figure?.querySelector(".note");
  if (note) add(card, "p", note.textContent, {className: "note"});
  add(add(card, "p", ""), "a", "Open where it is derived", {href: link.href, onclick: () => card.close()});
};

document.addEventListener("click", async event => {
  const link = event.target.closest?.(FIGURES);
  if (!link || !link.hash || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  try {
    const page = await pageAt(link.pathname), target = page.getElementById(decodeURIComponent(link.hash.slice(1)));
    fill(link, page, target);
    card.showModal();
    card.scrollTop = 0;
  } catch {
    location.assign(link.href);
  }
});

for (const link of document.querySelectorAll(FIGURES)) if (link.hash) link.setAttribute("aria-haspopup", "dialog");
