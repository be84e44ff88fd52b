// Makes elements. Text from caches is only ever text: nothing here reads it as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// h("a", {href: "#live"}, "Live", more, ...); "a.b.c" has classes.
export function h(name, attributes, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  return fill(element, attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// What is wider than its place can be reached by the keyboard, to scroll it; nothing else needs to be.
const scrolling = new ResizeObserver((entries) => {
  for (const {target} of entries) target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1;
});

// `columns`: [{label, of: (row) => content, number, head, wide}]; on narrow screens each row becomes a card.
export function table(caption, columns, rows) {
  const cell = (column, row) => {
    const name = column.head ? "th" : "td";
    const classes = [column.number && "number", column.wide && "wide", column.time && "time"].filter(Boolean).join(" ");
    return h(name, {class: classes || null, scope: column.head && "row", "data-label": column.head ? null : column.label},
      h("span", {}, column.of(row)));
  };
  const box = h("div.scroll", {role: "group", "aria-label": caption},
    h("table.stack", {},
      h("caption.unseen", {}, caption),
      h("thead", {}, h("tr", {}, columns.map((column) => h("th", {scope: "col", class: column.number && "number"}, column.label)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, columns.map((column) => cell(column, row)))))));
  scrolling.observe(box);
  return box;
}

export function empty(title, ...what) {
  return h("div.empty", {}, h("strong", {}, title), h("p", {}, what));
}

// The first lines of a program's sources, where they were kept. `id`: another one for each on the page.
export function sources(lines, id, isOpen) {
  return lines && h("details", {id, open: isOpen}, h("summary", {}, "First lines of its sources"), h("pre.sources", {}, lines.join("\n")));
}
