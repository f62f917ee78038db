// Served by `reportgen serve` alone, and part of no site: reloads the page after a build, and shows what is wrong with the lab's pages.
const asked = document.currentScript;
const panel = document.createElement("aside");
panel.id = "reportgen-problems";
panel.setAttribute("role", "status");
panel.setAttribute("aria-label", "What the last build found");
let shown = Number(asked.dataset.changed);

function line(tag, text, kind) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function show(told) {
  panel.replaceChildren();
  const head = told.fault ? "The last build failed; this page is of the one before." : `${told.problems.length} found by the last build`;
  panel.append(line("p", head, "head"));
  const list = document.createElement("ul");
  if (told.fault) list.append(line("li", told.fault, "grave"));
  for (const one of told.problems) list.append(line("li", one.text, one.grave ? "grave" : "mild"));
  panel.append(list);
  if (told.fault || told.problems.length) document.body.append(panel);
  else panel.remove();
}

const style = document.createElement("link");
style.rel = "stylesheet";
style.href = new URL("problems.css", asked.src).href;
document.head.append(style);

new EventSource(new URL("events", asked.src)).addEventListener("message", event => {
  const told = JSON.parse(event.data);
  if (told.changed !== shown) location.reload();
  else show(told);
  shown = told.changed;
});
