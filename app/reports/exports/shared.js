"use strict";
// The figures and Plotly are packed with gzip: a quarter of the bytes. A page for the printer has them unpacked, to be drawn when it has loaded; a site has Plotly as a file.
const root = document.documentElement, main = document.querySelector("main"), places = [...document.querySelectorAll(".chart")];
const textOf = (id) => document.getElementById(id).textContent;
const unpacked = (id) => {
  const bytes = Uint8Array.from(atob(textOf(id)), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
};
document.querySelectorAll(".t-figures").forEach((fold, number) => fold.addEventListener("toggle", () => fold.insertAdjacentHTML("beforeend", figures?.tables[number] ?? ""), { once: true }));
const night = matchMedia("(prefers-color-scheme: dark)");
let figures = null;
const isSite = Boolean(document.querySelector("nav"));
const draw = (page, scale, width) => figures && places.forEach((place, number) => {
  const { data, layout } = figures[page][number];
  place.style.zoom = scale;
  place.style.minHeight = "";
  Plotly.react(place, data, { ...layout, width: width || place.parentElement.clientWidth / scale }, { displayModeBar: false });
  if (isSite) place.removeAllListeners("plotly_click").on("plotly_click", ({ points: [point] }) => { if (point.customdata?.[0]) location.href = point.customdata[0]; });
});
const show = () => draw(night.matches ? "dark" : "light", 1);
// A sheet has room for so much: its charts in one row, smaller ones, then the largest rows of its longest tables, then all of it smaller.
const CHART_SCALES = [1, 0.9, 0.8], FEWEST_ROWS = 6;
const fit = () => {
  const isHigh = () => main.scrollHeight > main.clientHeight + 1, isWide = () => main.scrollWidth > main.clientWidth + 1;
  const shrink = (is) => { for (let zoom = 0.95; is() && zoom > 0.4; zoom -= 0.05) main.style.zoom = zoom; };
  const charts = places.map((place) => place.parentElement).filter((chart) => chart.offsetParent);
  charts.slice(0, -1).forEach((chart) => charts.at(-1).before(chart));
  shrink(isWide);
  for (const scale of figures ? CHART_SCALES : []) {
    draw("light", scale);
    if (!isHigh()) return;
  }
  const rows = (body) => [...body.rows].filter((row) => !row.hidden && !row.matches(".sum, .left-out, .sum:not(:first-child) ~ tr"));
  const bodies = [...main.querySelectorAll("tbody")];
  while (isHigh()) {
    const longest = bodies.sort((one, other) => rows(other).length - rows(one).length)[0];
    if (!longest || rows(longest).length <= FEWEST_ROWS) break;
    rows(longest).at(-1).hidden = true;
    const note = longest.querySelector(".left-out") || longest.insertRow(longest.querySelector(".sum:not(:first-child)")?.sectionRowIndex ?? -1);
    note.className = "left-out";
    note.innerHTML = `<td class="t-n" colspan="99">${[...longest.rows].filter((row) => row.hidden).length} more</td>`;
  }
  shrink(isHigh);
};
const unfit = () => {
  document.querySelectorAll(".left-out").forEach((row) => row.remove());
  document.querySelectorAll("tr[hidden]").forEach((row) => { row.hidden = false; });
  main.style.zoom = "";
};
if (document.querySelector("#figures[type='text/plain']")) (async () => {
  if (document.getElementById("plotly")) {
    const script = document.createElement("script");
    script.textContent = await unpacked("plotly");
    document.head.append(script);
  }
  figures = JSON.parse(await unpacked("figures"));
  show();
  night.addEventListener("change", show);
})();
else if (places.length) figures = JSON.parse(textOf("figures"));
if (root.matches(".sheet")) {
  main.getBoundingClientRect(); // loads the typeface before the charts measure their texts
  addEventListener("load", fit);
}
else {
  if (figures) draw("light", 1, 1000); // between the margins of A4 landscape lie 273 mm
  addEventListener("beforeprint", () => {
    root.classList.toggle("sheet", root.matches(".screen"));
    if (root.matches(".sheet")) return fit();
    document.querySelectorAll("details").forEach((one) => { one.open = true; });
    draw("light", 1, 1000);
  });
  addEventListener("afterprint", () => {
    if (root.matches(".sheet")) unfit();
    root.classList.remove("sheet");
    show();
  });
}
