"use strict";
// Drawing: styles, axes, and the chart of a metric against what was varied.

// Okabe and Ito's palette, without its yellow; a marker and a dash tell the same again.
const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const DARK = ["#4da3e0", "#f0803c", "#22c296", "#e09bc4", "#f2b544", "#8fd0f5", "#e8ecf1"];
const MARKS = ["circle", "rect", "triangle", "diamond", "emptyCircle"];
const DASHES = ["solid", [7, 3], [13, 3, 2, 3], [16, 4]]; // claims alone are dotted
const MOST_LINES = 40;

const palette = () => isDark() ? DARK : LIGHT;
const ink = () => isDark() ? { text: "#e8ecf1", soft: "#a3adb8", line: "#343c46", page: "#12161b" }
  : { text: "#1b1f24", soft: "#57606a", line: "#d5dae0", page: "#ffffff" };

// A label looks the same in every chart, whatever the filters.
function styleOf(label, variant) {
  return { color: palette()[label % 7], mark: MARKS[label % MARKS.length],
    dash: DASHES[(variant === null ? label : variant) % DASHES.length] };
}

const figures = [];

// Instances by the element that they draw in.
const instances = new Map();
const observer = new ResizeObserver(entries => entries.forEach(e => {
  const chart = instances.get(e.target);
  if (chart && e.contentRect.width > 0) chart.resize();
}));

function resizeCharts() { instances.forEach(chart => { chart.resize(); chart.getZr().flush(); }); }

// folded breaks the title of an axis into lines that fit a length in pixels.
function folded(name, length) {
  const most = length / 6.4, lines = [""];
  name.split(" ").forEach(word => {
    const line = lines[lines.length - 1];
    if (line && line.length + 1 + word.length > most) lines.push(word);
    else lines[lines.length - 1] = line ? line + " " + word : word;
  });
  return lines.join("\n");
}

function plot(host, option, label) {
  const element = make("div", { class: "plot", role: "img", "aria-label": label });
  host.append(element);
  const { xAxis, yAxis } = option;
  option = { ...option, xAxis: { ...xAxis, name: folded(xAxis.name, element.clientWidth - 70) },
    yAxis: { ...yAxis, name: folded(yAxis.name, element.clientHeight - 60) } };
  const chart = echarts.init(element, null, { renderer: "svg" });
  instances.set(element, chart);
  observer.observe(element);
  chart.setOption({ animation: false, backgroundColor: "transparent",
    textStyle: { fontFamily: "system-ui, 'Liberation Sans', Arial, sans-serif", color: ink().text }, ...option });
}

function clearPlots(host) {
  host.querySelectorAll(".plot").forEach(element => {
    observer.unobserve(element);
    instances.get(element).dispose();
    instances.delete(element);
  });
  host.replaceChildren();
}

const escapeHTML = text => echarts.format.encodeHTML(text);
const tooltip = formatter => ({ trigger: "item", formatter, confine: true, backgroundColor: ink().page,
  borderColor: ink().line, textStyle: { color: ink().text, fontSize: 12 } });

// nice is the next round number that is not below v.
function nice(v) {
  if (!(v > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(v));
  return [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map(k => k * power).find(k => k >= v * (1 - 1e-9));
}

const decadeDown = v => 10 ** Math.floor(Math.log10(v) + 1e-9);
const decadeUp = v => 10 ** Math.ceil(Math.log10(v) - 1e-9);

// Round values for an axis in decades: 1, 2 and 5, or the decades alone if there are many.
function logTicks(low, high) {
  const out = [];
  for (let p = decadeDown(low); p <= high; p *= 10) {
    [1, 2, 5].forEach(k => { if (k * p >= low && k * p <= high) out.push(Number((k * p).toPrecision(3))); });
  }
  const decades = out.filter(v => Number.isInteger(Math.log10(v)));
  return out.length > 9 && decades.length > 1 ? decades : out;
}

const gridLine = () => ({ show: true, lineStyle: { color: ink().line, width: 0.7 } });

function axis(name, extra) {
  const c = ink();
  return { name, nameLocation: "middle", nameGap: 28, nameTextStyle: { color: c.soft, lineHeight: 14 },
    axisLine: { show: true, onZero: false, lineStyle: { color: c.soft } }, axisLabel: { color: c.soft, hideOverlap: true },
    splitLine: { show: false }, ...extra };
}

// The vertical axis: from 0, in whole decades, or over what was measured.
function verticalAxis(name, top, bottom, { logY, zero }) {
  const c = ink();
  let min = 0, max = nice(top), interval;
  if (logY) {
    min = decadeDown(bottom);
    max = Math.max(decadeUp(top), 10 * min);
  } else if (!zero && bottom > 0 || bottom < 0) {
    const rough = (top - bottom || Math.abs(top)) / 5, power = decadeDown(rough);
    interval = [1, 2, 5, 10].map(k => k * power).find(k => k >= rough * (1 - 1e-9));
    min = Number((Math.floor(bottom / interval + 1e-9) * interval).toPrecision(12));
    max = Number((Math.ceil(top / interval - 1e-9) * interval).toPrecision(12));
    if (max <= min) max = min + interval;
  }
  return axis(name, { type: logY ? "log" : "value", min, max, interval, nameGap: 46, splitLine: gridLine(),
    axisLabel: { color: c.soft, formatter: v => show(v) } });
}

// The horizontal axis over values, at which it has its ticks if they are few.
function horizontalAxis(name, values, log) {
  const low = Math.min(...values), high = Math.max(...values);
  const few = values.length <= 9 ? { customValues: values } : {};
  const from = log ? low / 1.25 : low > 0 && low < high / 2 ? 0 : low - (high - low || 1) * 0.06;
  const to = log ? high * 1.25 : high + (high - from || 1) * 0.05;
  return axis(name, { type: log ? "log" : "value", min: from, max: to, axisTick: { show: true, ...few },
    axisLabel: { color: ink().soft, formatter: v => show(v), hideOverlap: true, showMinLabel: few.customValues ? true : false,
      showMaxLabel: few.customValues ? true : false, ...few } });
}

// The columns that tell cells of one label and one x apart: each needs lines or panels.
function splitting(cells, x) {
  return D.columns.map((_, i) => i).filter(i => {
    if (i === LABEL || i === x) return false;
    const seen = new Map();
    return cells.some(cell => {
      const key = cell.d[LABEL] + "|" + (x === null ? "" : cell.d[x]);
      if (!seen.has(key)) seen.set(key, cell.d[i]);
      return seen.get(key) !== cell.d[i];
    });
  });
}

// Lines of cells: one for each label and each combination of what splits it.
function linesOf(cells, x, splits, read) {
  const lines = new Map(), variants = new Map();
  for (const cell of cells) {
    const parts = splits.map(i => `${title(D.columns[i])} ${value(cell, i) || "none"}`);
    const variant = parts.join(", ");
    if (!variants.has(variant)) variants.set(variant, variants.size);
    const key = cell.d[LABEL] + "|" + variant;
    if (!lines.has(key)) {
      lines.set(key, { label: cell.d[LABEL], name: [value(cell, LABEL), ...parts].join(", "),
        variant: splits.length ? variants.get(variant) : null, points: [] });
    }
    const point = read(cell);
    if (point) lines.get(key).points.push({ ...point, cell, x: x === null ? cell.d[LABEL] : number(cell, x) });
  }
  const out = [...lines.values()].filter(line => line.points.length > 0);
  out.forEach(line => { line.points.sort((a, b) => a.x - b.x); line.style = styleOf(line.label, line.variant); });
  return out.sort((a, b) => a.label - b.label || a.variant - b.variant);
}

// The interval of a line as one polygon for each stretch of points that have one; a
// point that stands alone gets a whisker. An upper end that nobody knows is the axis' end.
function bandSeries(line, top, bottom) {
  const stretches = [[]];
  line.points.forEach(p => {
    if (p.low === null || p.low === undefined) stretches.push([]);
    else stretches[stretches.length - 1].push([p.x, Math.max(p.low, bottom), p.high === null ? top : p.high]);
  });
  const drawn = stretches.filter(s => s.length > 0);
  const stroke = { stroke: line.style.color, fill: "none", lineWidth: 1.5 };
  return { type: "custom", silent: true, clip: true, z: 1, data: drawn.map((_, i) => [drawn[i][0][0], drawn[i][0][1]]),
    renderItem: (params, api) => {
      const s = drawn[params.dataIndex];
      if (s.length === 1) {
        const [x, y1] = api.coord([s[0][0], s[0][1]]), y2 = api.coord([s[0][0], s[0][2]])[1];
        const bar = (a, b, c, d) => ({ type: "line", shape: { x1: a, y1: b, x2: c, y2: d }, style: stroke });
        return { type: "group", children: [bar(x, y1, x, y2), bar(x - 4, y1, x + 4, y1), bar(x - 4, y2, x + 4, y2)] };
      }
      const points = [...s.map(p => api.coord([p[0], p[2]])), ...s.slice().reverse().map(p => api.coord([p[0], p[1]]))];
      return { type: "polygon", shape: { points }, style: { fill: line.style.color, opacity: isDark() ? 0.22 : 0.16 } };
    } };
}

function lineSeries(line, describe) {
  return { type: "line", name: line.name, clip: false, z: 3, symbol: line.style.mark, symbolSize: 7,
    showAllSymbol: true, showSymbol: true, lineStyle: { color: line.style.color, width: 2, type: line.style.dash },
    itemStyle: { color: line.style.color }, emphasis: { focus: "series" },
    data: line.points.map(p => ({ value: [p.x, p.y], text: describe(line, p),
      label: { show: Boolean(p.mark), formatter: p.mark, position: "right", color: ink().text } })) };
}

// What is claimed of the cells of a line: one dotted line for each end of each claim.
function theorySeries(line, metric, log) {
  const claims = new Map();
  for (const p of line.points) {
    for (const [claim, low, high] of p.cell.b || []) {
      if (D.claims[claim].metric !== D.metrics[metric].name) continue;
      for (const [end, y] of low === high ? [["", low]] : [["at least", low], ["at most", high]]) {
        if (log && y <= 0) continue;
        const key = claim + end;
        if (!claims.has(key)) claims.set(key, { claim, end, data: [] });
        claims.get(key).data.push([p.x, y]);
      }
    }
  }
  return [...claims.values()].map(c => {
    const claim = D.claims[c.claim];
    const text = `${line.name}, as claimed (${claim.source}; ${claim.load || "any load"}): ${c.end} ${claim.text}`;
    return { type: "line", z: 2, clip: true, symbol: c.data.length > 1 ? "none" : "rect", symbolSize: [14, 2],
      lineStyle: { color: line.style.color, width: 1.5, type: [1, 3] }, itemStyle: { color: line.style.color },
      data: c.data.map(v => ({ value: v, text: `${escapeHTML(text)}<br><b>${show(v[1])}</b>` })) };
  });
}

function svg(tag, attributes) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.entries(attributes).forEach(([k, v]) => e.setAttribute(k, v));
  return e;
}

// A line and its marker, as they are drawn in the chart.
function sample(style) {
  const e = svg("svg", { viewBox: "0 0 34 12", "aria-hidden": "true" });
  e.append(svg("line", { x1: 0, y1: 6, x2: 34, y2: 6, stroke: style.color, "stroke-width": 2,
    "stroke-dasharray": Array.isArray(style.dash) ? style.dash.join(" ") : "none" }));
  const fill = { fill: style.color, stroke: style.color };
  const shapes = {
    circle: ["circle", { cx: 17, cy: 6, r: 3.6, ...fill }],
    emptyCircle: ["circle", { cx: 17, cy: 6, r: 3.4, fill: ink().page, stroke: style.color, "stroke-width": 1.6 }],
    rect: ["rect", { x: 13.5, y: 2.5, width: 7, height: 7, ...fill }],
    triangle: ["path", { d: "M17 1.5L21.5 10H12.5Z", ...fill }],
    diamond: ["path", { d: "M17 1L22 6L17 11L12 6Z", ...fill }],
  };
  if (style.mark) e.append(svg(...shapes[style.mark]));
  return e;
}

// A legend of [style, text, name]: each entry hides its line, in this chart alone, or shows it again.
function legend(f, entries) {
  return make("ul", { class: "legend" }, ...entries.map(([style, text, name = text]) => make("li", {},
    make("button", { type: "button", "aria-pressed": String(!f.off.has(name)), "data-line": name, onclick: () => {
      f.off[f.off.has(name) ? "delete" : "add"](name);
      remember();
      f.redraw();
      f.body.querySelector(`[data-line="${CSS.escape(name)}"]`).focus();
    } }, sample(style), text))));
}

// Controls of a figure, whose choices the address holds.
function choose(f, name, label, options, get, set) {
  const control = select(label, options, get(), v => { set(v); remember(); f.redraw(); });
  keep(`${f.name}.${name}`, get, ([v]) => {
    if (!options.some(o => String(o[0]) === v)) return false;
    set(v);
    control.querySelector("select").value = v;
    return true;
  });
  return control;
}

function tick(f, label, get, set) {
  const control = checkbox(label, get(), on => { set(on); remember(); f.redraw(); });
  keep(`${f.name}.${label.replaceAll(" ", "-")}`, () => get() ? "yes" : "no", ([v]) => {
    set(v === "yes");
    control.querySelector("input").checked = v === "yes";
  });
  return control;
}

// A figure has a heading, tools, and what draw makes of the cells shown: again for each filter.
function buildFigure(host, kind, heading, wide, draw) {
  const tools = make("div", { class: "tools" }), body = make("div", {});
  const caption = make("figcaption", {}), rows = make("div", { class: "scroll", tabindex: 0, role: "region" });
  const alternative = make("details", {}, make("summary", {}, "The same as a table"), rows);
  const head = make("h3", {}, heading);
  const id = (host.closest("section") || host).id;
  const f = { tools, head, body, caption, rows: () => [], cells: [], off: new Set(),
    name: `${id}-${1 + figures.filter(g => g.section === id).length}`, section: id };
  figures.push(f);
  const element = make("figure", { class: "chart" + (wide ? " wide" : ""), "data-chart": kind },
    head, tools, body, caption, alternative);
  host.append(element);
  const fill = () => {
    if (!alternative.open) return;
    const [first, ...rest] = f.rows();
    const text = v => typeof v === "number" ? show(v) : v === null || v === undefined ? "" : v;
    rows.replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...first.map(h => make("th", { scope: "col" }, h)))),
      make("tbody", {}, ...rest.slice(0, 1000).map(r => make("tr", {}, ...r.map(v =>
        make("td", { class: typeof v === "number" ? "num" : null }, text(v))))))));
  };
  alternative.addEventListener("toggle", fill);
  const saves = make("div", { class: "saves" }, ...Object.entries({ SVG: saveSVG, PNG: savePNG }).map(([format, as]) =>
    make("button", { type: "button", class: "quiet", "data-save": format, onclick: () => as(f) }, "Save " + format)));
  element.append(saves);
  f.redraw = () => {
    dirty.delete(f);
    clearPlots(body);
    draw(f, f.cells);
    fill();
    saves.hidden = !body.querySelector(".plot");
    [...saves.children].forEach(button => button.setAttribute("aria-label", `Save ${button.dataset.save} of ${head.textContent}`));
    alternative.firstChild.setAttribute("aria-label", `The same as a table: ${head.textContent}`);
    element.setAttribute("aria-label", head.textContent);
    rows.setAttribute("aria-label", `Table of ${head.textContent}`);
  };
  keep(f.name + ".hidden", () => [...f.off], names => { f.off = new Set(names.filter(Boolean)); });
  listeners.push(cells => { f.cells = cells; dirty.add(f); });
  return f;
}

// A picture of a figure stands alone: light, with its heading, the legend, and all panels where the page has them.
function picture(f) {
  printing = true;
  f.redraw();
  const box = f.body.getBoundingClientRect(), c = ink(), pad = 12, top = 36, font = "'Liberation Sans', Arial, sans-serif";
  const width = Math.ceil(box.width) + 2 * pad, height = Math.ceil(box.height) + top + pad;
  const out = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": font });
  const text = (words, attributes) => {
    const e = svg("text", attributes);
    e.textContent = words;
    out.append(e);
  };
  const place = e => {
    const r = e.getBoundingClientRect();
    return { x: r.left - box.left + pad, y: r.top - box.top + top, width: r.width, height: r.height };
  };
  const inner = e => {
    const copy = e.cloneNode(true);
    copy.removeAttribute("style");
    Object.entries(place(e)).forEach(([k, v]) => copy.setAttribute(k, v));
    out.append(copy);
  };
  out.append(svg("title", {}), svg("desc", {}), svg("rect", { width, height, fill: c.page }));
  out.children[0].textContent = f.head.textContent;
  out.children[1].textContent = f.caption.textContent;
  text(f.head.textContent, { x: pad, y: 23, fill: c.text, "font-weight": 600,
    "font-size": Math.min(16, (width - 2 * pad) / f.head.textContent.length / 0.58) });
  f.body.querySelectorAll(".legend [aria-pressed=true]").forEach(entry => {
    const at = place(entry), line = entry.querySelector("svg");
    inner(line);
    text(entry.textContent, { x: place(line).x + 39, y: at.y + at.height * 0.72, fill: c.text, "font-size": 13 });
  });
  f.body.querySelectorAll(".panel-title").forEach(e => {
    const at = place(e);
    text(e.textContent, { x: at.x + at.width / 2, y: at.y + at.height * 0.72, fill: c.soft, "font-size": 13, "text-anchor": "middle" });
  });
  f.body.querySelectorAll(".plot svg").forEach(inner);
  printing = false;
  f.redraw();
  const name = `${document.querySelector("h1").textContent} ${f.head.textContent}`.replace(/[^A-Za-z0-9]+/g, "-").replace(/-$/, "");
  return { name, width, height, text: new XMLSerializer().serializeToString(out) };
}

function saveSVG(f) {
  const p = picture(f);
  save(p.name + ".svg", "image/svg+xml", [p.text]);
}

// Two dots for each pixel, whatever the screen has.
async function savePNG(f) {
  const p = picture(f), image = new Image(), canvas = make("canvas", { width: 2 * p.width, height: 2 * p.height });
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(p.text);
  await image.decode();
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob(blob => save(p.name + ".png", "image/png", [blob]), "image/png");
}

// Charts are drawn one by one, so that the page answers meanwhile; and all at once for paper.
const dirty = new Set();
let drawing = false;

function drawLater() {
  delete document.documentElement.dataset.drawn;
  if (drawing) return;
  drawing = true;
  setTimeout(() => {
    drawing = false;
    const [next] = dirty;
    if (next) next.redraw();
    if (dirty.size) drawLater();
    else {
      if (arriving) go();
      arriving = false;
      document.documentElement.dataset.drawn = String(Math.round(performance.now())); // for whoever waits
    }
  });
}

function drawAll() { [...dirty].forEach(f => f.redraw()); }

// An empty chart says why it is.
function nothing(f, why) {
  f.body.append(make("p", { class: "empty" }, why));
  f.caption.textContent = "";
  f.rows = () => [["nothing"]];
}
