// Each chart says below it what the commit is that is pointed at, or that the arrow keys have come to.
for (const chart of document.querySelectorAll("svg.trend")) {
  const points = [...chart.querySelectorAll("circle")], at = chart.parentNode.querySelector(".at");
  const wide = chart.viewBox.baseVal.width;
  let here = -1;
  const show = i => {
    if (here >= 0) points[here].classList.remove("on");
    here = i;
    if (i >= 0) points[i].classList.add("on");
    at.textContent = i >= 0 ? points[i].querySelector("title").textContent : "\u00a0";
  };
  const nearest = x => points.reduce((best, p, i) => Math.abs(p.cx.baseVal.value - x) <
    Math.abs(points[best].cx.baseVal.value - x) ? i : best, 0);
  chart.addEventListener("pointermove", e => {
    const box = chart.getBoundingClientRect();
    show(nearest((e.clientX - box.left) * wide / box.width));
  });
  chart.addEventListener("pointerleave", () => { if (document.activeElement !== chart) show(-1); });
  chart.addEventListener("focus", () => { if (here < 0) show(+chart.dataset.at); });
  chart.addEventListener("blur", () => show(-1));
  chart.addEventListener("keydown", e => {
    const to = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: points.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    show(Math.max(0, Math.min(points.length - 1, to)));
  });
}

// The filter leaves what is of a metric and an experiment.
const filter = document.getElementById("filter");
const choose = () => {
  const metric = document.getElementById("metric").value, experiment = document.getElementById("experiment").value;
  const meant = e => (!experiment || e.dataset.experiment === experiment) &&
    (!metric || !e.dataset.metrics || e.dataset.metrics.trim().split(" ").includes(metric));
  for (const e of document.querySelectorAll("[data-experiment]")) e.hidden = !meant(e);
  for (const e of document.querySelectorAll(".flat")) e.hidden = !e.querySelector("li:not([hidden])");
  const all = document.querySelectorAll(".series");
  const left = [...all].filter(e => !e.hidden).length;
  document.getElementById("shown").textContent = left === all.length ? "" : left + " of " + all.length + " series";
};
filter.hidden = false;
filter.addEventListener("change", choose);
filter.addEventListener("submit", e => e.preventDefault());
choose();
document.documentElement.dataset.drawn = "";
