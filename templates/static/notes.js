// A footnote opens in place, below the lines that refer to it, and closes again; its link leads to the foot of the page, with scripts or without.
const BLOCKS = "p, li, dd, td, th, figcaption, h2, h3, h4";

const card = link => {
  const note = document.getElementById(decodeURIComponent(link.hash.slice(1))).cloneNode(true);
  note.querySelectorAll(".footnote-backref").forEach(one => one.remove());
  note.querySelectorAll("[id]").forEach(one => one.removeAttribute("id"));
  const close = Object.assign(document.createElement("button"), {type: "button", textContent: "Close", onclick: () => toggle(link)});
  const made = Object.assign(document.createElement("div"), {className: "in-place", id: `${link.id}-note`, tabIndex: -1});
  made.setAttribute("role", "note");
  made.setAttribute("aria-label", link.getAttribute("aria-label"));
  made.append(...note.childNodes, close);
  made.onkeydown = event => event.key === "Escape" && toggle(link);
  return made;
};

const toggle = link => {
  if (link.opened) {
    link.opened = link.opened.remove();
    link.focus();
  } else {
    const block = link.closest(BLOCKS) ?? link;
    link.opened = card(link);
    block[block.matches("td, th, li, dd, figcaption") ? "append" : "after"](link.opened);
    link.opened.focus();
  }
  link.setAttribute("aria-expanded", String(!!link.opened));
};

for (const link of document.querySelectorAll(".footnote-ref a")) {
  link.setAttribute("role", "button");
  link.setAttribute("aria-expanded", "false");
  link.onclick = event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    toggle(link);
  };
  link.onkeydown = event => {
    if (event.key === " ") link.onclick(event);
    if (event.key === "Escape" && link.opened) toggle(link);
  };
}
