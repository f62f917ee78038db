// A link "Explore" leads to the tables of a record's fixtures. With scripts it opens them here: one comparison at a time, narrowed to some
// fixtures or devices, with and without the repetitions that were left out. Every figure is one of the record's results.json.
const SVG = "http://www.w3.org/2000/svg", WIDTH = 380, ROW = 15, LEFT = 8, FOOT = 22;
const make = (tag, more, ...inside) => {
  const made = Object.assign(document.createElement(tag), more);
  made.append(...inside);
  return made;
};
const drawn = (tag, attributes, ...inside) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
};
const percent = ratio => {
  const said = (100 * (ratio - 1)).toFixed(2), number = said.replace("-", "");
  return `${Number(said) === 0 ? "" : said.startsWith("-") ? "−" : "+"}${number}%`;
};
const range = (low, high) => `${percent(low)} to ${percent(high)}`;
const pairs = fixture => Object.fromEntries(fixture.split(",").map(pair => pair.split("=")).map(([name, ...rest]) => [name, rest.join("=")]));
const distinct = values => [...new Set(values)];

const chosen = (name, values, show) => {
  const select = make("select", {}, ...values.map(([value, words]) => make("option", {value}, words)));
  select.onchange = show;
  return [select, make("label", {}, `${name} `, select)];
};

const chart = cells => {
  const ends = [1, ...cells.flatMap(cell => [cell.interval.low, cell.interval.high])];
  const low = Math.min(...ends), high = Math.max(...ends), room = (high - low || 0.01) * 0.06;
  const at = ratio => (LEFT + (ratio - low + room) / (high - low + 2 * room) * (WIDTH - 2 * LEFT)).toFixed(1);
  const height = ROW * cells.length + FOOT, foot = height - 6, quiet = {"font-size": 12, fill: "var(--chart-quiet)"};
  const shapes = [drawn("path", {stroke: "var(--chart-zero)", "stroke-width": 1.5, d: `M${at(1)} 0V${height - FOOT}`})];
  cells.forEach((cell, row) => {
    const y = ROW * row + ROW / 2;
    shapes.push(drawn("path", {stroke: "var(--chart-equivalent)", "stroke-width": 2, d: `M${at(cell.interval.low)} ${y}H${at(cell.interval.high)}`}));
    shapes.push(drawn("path", {stroke: "var(--chart-equivalent)", "stroke-width": 7, "stroke-linecap": "round", d: `M${at(cell.ratio)} ${y}h.01`}));
  });
  shapes.push(drawn("text", {x: LEFT, y: foot, ...quiet}, percent(low)));
  shapes.push(drawn("text", {x: WIDTH - LEFT, y: foot, "text-anchor": "end", ...quiet}, percent(high)));
  const words = `Change on each of ${cells.length} fixtures, as in the table: from ${range(Math.min(...cells.map(cell => cell.ratio)), Math.max(...cells.map(cell => cell.ratio)))}`;
  return drawn("svg", {class: "chart", viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, role: "img", "aria-label": words}, ...shapes);
};

// The device is told where there are several.
const table = (cells, several) => {
  const heads = ["Fixture", ...(several ? ["device"] : []), "change", "interval"].map(words => make("th", {scope: "col", className: words === "change" || words === "interval" ? "n" : ""}, words));
  const rows = cells.map(cell => make("tr", {},
    make("th", {scope: "row"}, make("code", {}, cell.fixture)), ...(several ? [make("td", {}, make("code", {}, cell.device))] : []),
    make("td", {className: "n"}, make("data", {value: String(cell.ratio)}, percent(cell.ratio))), make("td", {className: "n"}, range(cell.interval.low, cell.interval.high))));
  return make("div", {className: "scroll", tabIndex: 0, role: "region", ariaLabel: "Fixtures shown"},
    make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)));
};

const view = (results, section) => {
  const said = make("p", {className: "shown", role: "status"}), place = make("div", {});
  const comparisons = results.comparisons.filter(one => one.cells.length);
  const names = distinct(comparisons.map(one => `${one.arm} against ${one.baseline}`));
  const cells = comparisons.flatMap(one => one.cells), axes = {};
  for (const cell of cells) for (const [axis, value] of Object.entries(pairs(cell.fixture))) (axes[axis] ??= new Set()).add(value);
  const selects = {};
  const show = () => {
    const from = lost.checked ? results.with_left_out : results.comparisons;
    const all = from.filter(one => `${one.arm} against ${one.baseline}` === which.value).flatMap(one => one.cells);
    const found = all.filter(cell => {
      const values = pairs(cell.fixture);
      return (!device.value || cell.device === device.value) && Object.entries(selects).every(([axis, select]) => !select.value || values[axis] === select.value);
    });
    const ratios = found.map(cell => cell.ratio).sort((a, b) => a - b), middle = ratios.length / 2;
    const median = (ratios[Math.ceil(middle) - 1] + ratios[Math.floor(middle)]) / 2;
    said.textContent = found.length
      ? `${which.value}: ${found.length} of ${all.length} fixtures, median change ${percent(median)}, from ${range(ratios[0], ratios.at(-1))}. Fewer fixtures than the record's decide nothing.`
      : "No fixture is of all these values.";
    place.replaceChildren(...(found.length ? [chart(found), table(found, devices.length > 1)] : []));
  };
  const [which, whichLabel] = chosen("comparison", names.map(name => [name, name]), show);
  const devices = distinct(cells.map(cell => cell.device));
  const [device, deviceLabel] = chosen("device", [["", "all"], ...devices.map(name => [name, name])], show);
  const labels = Object.entries(axes).filter(([, values]) => values.size > 1).map(([axis, values]) => {
    const [select, label] = chosen(axis, [["", "all"], ...[...values].map(value => [value, value])], show);
    selects[axis] = select;
    return label;
  });
  const lost = make("input", {type: "checkbox", disabled: !results.with_left_out.length, onchange: show});
  const lostLabel = make("label", {}, lost, results.with_left_out.length ? " with what was left out" : " with what was left out: nothing was");
  section.replaceChildren(make("div", {className: "tools"}, whichLabel, deviceLabel, ...labels, lostLabel), said, place);
  show();
  which.focus();
};

const open = async link => {
  const section = make("section", {className: "explore wide", ariaLabel: "Explore the fixtures"}, make("p", {role: "status"}, "Loading the record's results."));
  (link.closest("ul, p") ?? link).after(section);
  link.setAttribute("aria-expanded", "true");
  try {
    const answer = await fetch(link.dataset.results);
    if (!answer.ok) throw new Error(answer.status);
    view(await answer.json(), section);
    link.opened = section;
  } catch {
    location.assign(link.href);
  }
};

for (const link of document.querySelectorAll("a.explore")) {
  link.setAttribute("role", "button");
  link.setAttribute("aria-expanded", "false");
  const toggle = event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (!link.opened) return void open(link);
    link.opened.hidden = !link.opened.hidden;
    link.setAttribute("aria-expanded", String(!link.opened.hidden));
  };
  link.addEventListener("click", toggle);
  link.addEventListener("keydown", event => event.key === " " && toggle(event));
}
