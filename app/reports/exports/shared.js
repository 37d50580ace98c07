"use strict";
// The figures and Plotly are packed with gzip: a quarter of the bytes.
const unpacked = (id) => {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
};
const night = matchMedia("(prefers-color-scheme: dark)");
(async () => {
  const places = [...document.querySelectorAll(".chart")];
  if (!places.length) return;
  const script = document.createElement("script");
  script.textContent = await unpacked("plotly");
  document.head.append(script);
  const figures = JSON.parse(await unpacked("figures"));
  const draw = (page, width) => places.forEach((place, number) => {
    const { data, layout } = figures[page][number];
    Plotly.react(place, data, { ...layout, width }, { displayModeBar: false, responsive: true });
  });
  const show = () => draw(night.matches ? "dark" : "light");
  show();
  night.addEventListener("change", show);
  addEventListener("beforeprint", () => draw("light", 1000)); // between the margins of A4 landscape lie 273 mm
  addEventListener("afterprint", show);
})();
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
