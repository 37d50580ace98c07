"use strict";
const charts = [...document.querySelectorAll(".chart")];
for (const place of charts) {
  const figure = JSON.parse(document.getElementById(place.id + "-figure").textContent);
  Plotly.newPlot(place, figure.data, figure.layout, { displayModeBar: false, responsive: true });
}
// Between the margins of an A4 page lie 186 mm.
const resize = (width) => charts.forEach((place) => Plotly.relayout(place, { width }));
addEventListener("beforeprint", () => resize(700));
addEventListener("afterprint", () => resize(null));
