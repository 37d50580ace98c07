"use strict";
// The list of a site: the runs that the filters of the address choose, and their order. The runs of each value of a filter are in the page.
{
const { filters, ranks } = JSON.parse(document.getElementById("list").textContent);
const list = document.querySelector(".t-runs"), body = list.tBodies[0], bar = document.querySelector(".t-filters");
const status = document.querySelector(".t-chosen"), rows = [...body.rows], SEARCH = "search";
const texts = rows.map((row) => (row.textContent + " " + row.querySelector("a").pathname).toLowerCase());
const query = new URLSearchParams(location.search);
const make = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text }, more);
const chosen = () => [...new Set(query.keys())].filter((key) => key === SEARCH || filters[key]);
const runsOf = (key, value) => {
  if (key !== SEARCH) return new Set(filters[key].values[value]?.runs);
  return new Set(texts.flatMap((text, run) => text.includes(value.toLowerCase()) ? [run] : []));
};
const found = () => chosen().reduce((left, key) => {
  const each = query.getAll(key).map((value) => runsOf(key, value));
  const has = (run) => filters[key]?.any ? each.some((one) => one.has(run)) : each.every((one) => one.has(run));
  return left.filter(has);
}, rows.map((_, run) => run));
const show = () => {
  const visible = new Set(found()), whole = rows.length.toLocaleString("en");
  rows.forEach((row, run) => { row.hidden = !visible.has(run); });
  bar.querySelectorAll("select, input").forEach((box) => { box.value = query.get(box.name) ?? ""; });
  status.replaceChildren(make("b", visible.size === rows.length ? `${whole} runs` : `${visible.size.toLocaleString("en")} of ${whole} runs`));
  for (const key of chosen()) for (const value of query.getAll(key)) {
    const words = key === SEARCH ? `Search: “${value}”` : `${filters[key].name}: ${filters[key].values[value]?.words ?? value}`;
    const clear = make("button", `${words} ×`, { type: "button", title: "Remove this filter", onclick: () => change(key, query.getAll(key).filter((one) => one !== value)) });
    status.append(clear);
  }
  if (chosen().length) status.append(make("a", "All runs", { href: location.pathname.split("/").pop() }));
};
const change = (key, values) => {
  query.delete(key);
  values.filter(Boolean).forEach((value) => query.append(key, value));
  history.replaceState(null, "", `${location.pathname}${String(query) && "?"}${query}`);
  show();
};
for (const [key, one] of Object.entries(filters)) if (one.offered.length > 1) {
  const box = make("select", "", { name: key, onchange: () => change(key, [box.value]) });
  box.setAttribute("aria-label", one.name);
  box.append(make("option", one.name, { value: "" }));
  for (const value of one.offered) box.append(make("option", `${one.values[value].words} (${one.values[value].runs.length.toLocaleString("en")})`, { value }));
  bar.append(box);
}
const search = make("input", "", { type: "search", name: SEARCH, placeholder: "Search", oninput: () => change(SEARCH, [search.value]) });
search.setAttribute("aria-label", "Search the list");
bar.append(search);
// A column's first click puts figures and dates largest first, names from A; runs without a value come last.
[...list.tHead.rows[0].cells].forEach((head, column) => {
  const { places, isFigure } = ranks[column], button = make("button", "", { type: "button" });
  rows.forEach((row) => { row.cells[column].dataset.name = head.textContent; }); // on a phone a row is a card
  button.append(...head.childNodes);
  head.append(button);
  button.onclick = () => {
    const isDown = head.ariaSort ? head.ariaSort === "ascending" : isFigure;
    [...list.tHead.rows[0].cells].forEach((other) => { other.ariaSort = null; });
    head.ariaSort = isDown ? "descending" : "ascending";
    const order = rows.map((_, run) => run).sort((one, other) =>
      (places[one] === null) - (places[other] === null) || (isDown ? places[other] - places[one] : places[one] - places[other]) || one - other);
    body.append(...order.map((run) => rows[run]));
  };
});
addEventListener("popstate", () => location.reload());
show();
}
