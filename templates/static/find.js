// Search over the site's own index, which is fetched when the field is first used; without scripts its place leads to the list of pages.
const root = new URL("../", import.meta.url), place = document.querySelector(".find");
const make = (tag, more, ...inside) => {
  const made = Object.assign(document.createElement(tag), more);
  made.append(...inside);
  return made;
};
const status = make("p", {role: "status"}), list = make("ol", {});
const found = make("div", {className: "found", hidden: true}, status, list);
const field = make("input", {type: "search", placeholder: "Search", autocomplete: "off", spellcheck: false, ariaLabel: "Search this site"});
const form = make("form", {role: "search"}, field, found);
let loading;

const load = async () => {
  const answer = await fetch(new URL("search.json", root));
  if (!answer.ok) throw Error(String(answer.status));
  const index = await answer.json();
  index.lines = index.words.split("\n").map(line => {
    const [word, ...steps] = line.split(" ");
    let at = 0;
    return [word, steps.map(step => at += +step)];
  });
  return index;
};

// Sections that hold every word asked for, or a word that begins with it; those that name it in heading or title come first.
const search = (index, asked) => {
  const scores = asked.map(word => {
    const score = new Map();
    for (const [held, sections] of index.lines) {
      if (!held.startsWith(word)) continue;
      for (const at of sections) score.set(at, Math.max(score.get(at) ?? 0, held === word ? 2 : 1));
    }
    return score;
  });
  const all = [...scores[0].keys()].filter(at => scores.every(score => score.has(at)));
  const names = (text, word) => text.toLowerCase().includes(word);
  return all.map(at => {
    const [page, , heading] = index.sections[at], title = index.pages[page][0];
    const points = asked.map((word, i) => scores[i].get(at) + 4 * names(heading, word) + (heading ? 1 : 3) * names(title, word));
    return [points.reduce((sum, one) => sum + one, 0) - page / 1000, at];
  }).sort(([a], [b]) => b - a).map(([, at]) => at);
};

const show = (index, at) => {
  const [page, anchor, heading] = index.sections[at], [title, address, group] = index.pages[page];
  const link = make("a", {href: new URL(address + (anchor && `#${anchor}`), root).href}, heading || title);
  return make("li", {}, link, make("span", {}, heading ? title : group));
};

const answer = async () => {
  const text = field.value.toLowerCase();
  found.hidden = !text.trim();
  if (found.hidden) return list.replaceChildren();
  try {
    const index = await (loading ??= load());
    if (text !== field.value.toLowerCase()) return;
    const asked = (text.match(/[\p{L}\p{N}_]{2,}/gu) ?? []).filter(word => !index.left_out.includes(word));
    const hits = asked.length ? search(index, asked) : [], most = hits.slice(0, 12);
    status.textContent = asked.length ? `${hits.length || "No"} ${hits.length === 1 ? "place" : "places"}${hits.length > 12 ? ", the first 12" : ""}` : "Type a word.";
    list.replaceChildren(...most.map(at => show(index, at)));
  } catch {
    loading = undefined;
    status.textContent = "The index cannot be fetched now; the list of pages can still be read.";
  }
};

const close = () => found.hidden = true;
field.onfocus = () => (loading ??= load()).catch(() => loading = undefined);
field.oninput = answer;
form.onsubmit = event => {
  event.preventDefault();
  list.querySelector("a")?.click();
};
form.onkeydown = event => {
  const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement);
  if (event.key === "Escape") {
    close();
    field.focus();
  } else if (event.key === "ArrowDown" && !found.hidden) {
    event.preventDefault();
    links[Math.min(at + 1, links.length - 1)]?.focus();
  } else if (event.key === "ArrowUp" && at >= 0) {
    event.preventDefault();
    (links[at - 1] ?? field).focus();
  }
};
form.addEventListener("focusout", event => form.contains(event.relatedTarget) || close());
list.addEventListener("click", close);
place.replaceChildren(form);
