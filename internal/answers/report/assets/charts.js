"use strict";
// Drawing: looks, axes, and the chart of a metric against what was varied. A chart is what it is in
// internal/answers/chart: two axes, and what is drawn between them, from the bottom to the top.

const MOST_LINES = 40;
const FONT = "system-ui, 'Liberation Sans', Arial, sans-serif", ROW = 14; // of text, in pixels

const palette = () => D.looks.colors.map(c => c[Number(isDark())]);
const ink = () => isDark() ? { text: "#e8ecf1", soft: "#a3adb8", line: "#343c46", page: "#12161b" }
  : { text: "#1b1f24", soft: "#57606a", line: "#d5dae0", page: "#ffffff" };
const CLAIMED = [1, 3], ASKED = [3, 3]; // dashes

// A label looks the same in every chart, whatever the filters, and as it does in print.
function styleOf(label, variant) {
  const { marks, dashes } = D.looks, of = list => list[(variant ?? label) % list.length];
  return { color: palette()[label % palette().length], mark: marks[label % marks.length], dash: of(dashes) };
}

function svg(tag, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.entries(attributes).forEach(([k, v]) => { if (v !== null && v !== undefined) e.setAttribute(k, v); });
  e.append(...children);
  return e;
}

const stroke = (d, { color, dash, width = 2 }) => svg("path", { d, stroke: color, fill: "none", "stroke-width": width,
  "stroke-linejoin": "round", "stroke-dasharray": dash && dash.length ? dash.join(" ") : null });
// A mark is hollow where a reader has to doubt the point, as a caption says.
const glyph = (x, y, { color, mark }, hollow) => svg("path", { d: `M${x} ${y}${mark.path}`, stroke: color, "stroke-width": 1.5,
  fill: hollow ? ink().page : color, "data-hollow": hollow ? "" : null });

const figures = [];

// What is drawn, by the element that it is drawn in.
const instances = new Map();
const observer = new ResizeObserver(entries => entries.forEach(e => {
  const chart = instances.get(e.target);
  if (chart && e.contentRect.width > 0 && e.contentRect.width !== chart.width) paint(e.target);
}));

function resizeCharts() { instances.forEach((_, element) => paint(element)); }

function plot(host, chart, label) {
  const element = make("div", { class: "plot", role: "img", "aria-label": label });
  host.append(element);
  instances.set(element, chart);
  paint(element);
  observer.observe(element);
  element.addEventListener("pointermove", e => point(element, chart, e));
  element.addEventListener("pointerleave", () => point(element, chart, null));
}

function clearPlots(host) {
  host.querySelectorAll(".plot").forEach(element => {
    observer.unobserve(element);
    instances.delete(element);
  });
  host.replaceChildren();
  point(null, { hits: [] }, null);
}

const pen = make("canvas").getContext("2d");
pen.font = `12px ${FONT}`;
const wide = text => pen.measureText(text).width;

// folded breaks the title of an axis into lines that fit a length.
function folded(title, length) {
  const lines = [];
  title.split(" ").forEach(word => {
    const longer = lines.length ? lines[lines.length - 1] + " " + word : "";
    if (longer && wide(longer) <= length) lines[lines.length - 1] = longer;
    else lines.push(word);
  });
  return lines;
}

// nice is the next round number that is not below v.
function nice(v) {
  if (!(v > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(v));
  return [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map(k => k * power).find(k => k >= v * (1 - 1e-9));
}

const decadeDown = v => 10 ** Math.floor(Math.log10(v) + 1e-9);
const decadeUp = v => 10 ** Math.ceil(Math.log10(v) - 1e-9);
const isDecade = v => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9;
const stepOf = (least, enough) => {
  for (let power = decadeDown(least); ; power *= 10) {
    const k = [1, 2, 2.5, 5].find(k => enough(k * power));
    if (k) return k * power;
  }
};

// Round values for an axis in decades: 1, 2 and 5, the decades alone if there are many, or those of a linear axis if there are few.
function logTicks(low, high) {
  const out = [];
  for (let p = decadeDown(low); p <= high * (1 + 1e-9); p *= 10) {
    [1, 2, 5].forEach(k => { if (k * p >= low * (1 - 1e-9) && k * p <= high * (1 + 1e-9)) out.push(Number((k * p).toPrecision(3))); });
  }
  const decades = out.filter(isDecade);
  if (out.length < 3) return rounds({ min: low, max: high }, 6);
  return out.length > 9 && decades.length > 1 ? decades : out;
}

// Round values for a linear axis, as many as there is room for; a step that leads from end to end is preferred.
function rounds({ min, max }, most) {
  const even = (v, step) => Math.abs(v / step - Math.round(v / step)) < 1e-6, span = max - min;
  const room = step => span / step <= most;
  let step = stepOf(span / 100, step => room(step) && even(min, step) && even(max, step) || step >= span);
  if (step >= span) step = stepOf(span / 100, room);
  const out = [];
  for (let k = Math.ceil(min / step - 1e-6); k * step <= max + step / 1e6; k++) out.push(Number((k * step).toPrecision(12)));
  return out;
}

// An axis goes from min to max, and has ticks at its values or its names, or where they are round.
const named = (title, names) => ({ title, names, min: -0.5, max: names.length - 0.5 });
const place = (a, v) => a.log ? Math.log(v / a.min) / Math.log(a.max / a.min) : (v - a.min) / (a.max - a.min);

// The ticks of an axis so long, of which those have a text that there is room for: the ends before the others.
function ticksOf(a, length, size) {
  const text = v => a.names ? a.names[v] : (a.format || show)(v);
  const at = a.names ? a.names.map((_, i) => i) : a.values || (a.log ? logTicks(a.min, a.max) :
    rounds(a, Math.max(1, Math.min(8, length / (Math.max(size(text(a.min)), size(text(a.max))) + 12)))));
  const rank = i => i === 0 || i === at.length - 1 ? 0 : a.log && isDecade(at[i]) ? 1 : 2;
  const taken = [], out = at.map(v => ({ at: v, text: "" }));
  [...at.keys()].sort((i, k) => rank(i) - rank(k) || i - k).forEach(i => {
    const middle = place(a, at[i]) * length, half = size(text(at[i])) / 2 + 3;
    if (taken.some(([from, to]) => middle - half < to && middle + half > from)) return;
    taken.push([middle - half, middle + half]);
    out[i].text = text(at[i]);
  });
  return out;
}

// The vertical axis: from 0, in whole decades, or over what was measured.
function verticalAxis(title, top, bottom, { logY, zero }) {
  if (logY) return { title, log: true, min: decadeDown(bottom), max: Math.max(decadeUp(top), 10 * decadeDown(bottom)) };
  if (bottom >= 0 && (zero || bottom === 0)) return { title, min: 0, max: nice(top) };
  const rough = (top - bottom || Math.abs(top)) / 5, step = stepOf(rough, k => k >= rough * (1 - 1e-9));
  const min = Number((Math.floor(bottom / step + 1e-9) * step).toPrecision(12));
  return { title, min, max: Math.max(Number((Math.ceil(top / step - 1e-9) * step).toPrecision(12)), min + step) };
}

// The horizontal axis over values, at which it has its ticks if they are few.
function horizontalAxis(title, values, log) {
  const low = Math.min(...values), high = Math.max(...values);
  const from = log ? low / 1.25 : low > 0 && low < high / 2 ? 0 : low - (high - low || 1) * 0.06;
  return { title, log, min: from, max: log ? high * 1.25 : high + (high - from || 1) * 0.05, values: values.length <= 9 ? values : null };
}

let panes = 0;

// paint draws the chart of an element as an SVG of its size.
function paint(element) {
  const chart = instances.get(element), { x, y, items } = chart, c = ink();
  const w = element.clientWidth, upright = () => 12, slant = Math.PI / 3, top = 12;
  if (w === 0) return; // it is not shown
  element.style.height = chart.height || "";
  let h = element.clientHeight, left = 14, right = w - 16;
  // Names that have no room beside each other are slanted, in a higher chart.
  const slanted = x.names && x.names.some(name => wide(name) + 6 > (w - 80) / x.names.length);
  const texts = slanted ? 8 + Math.max(...x.names.map(name => Math.sin(slant) * wide(name))) : ROW + 3;
  if (texts > 50) element.style.height = `${h += Math.ceil(texts - 50)}px`;
  const yLines = y.title ? folded(y.title, h - 12 - texts - ROW - top) : [];
  left += ROW * yLines.length + Math.max(0, ...ticksOf(y, h - texts - 40, upright).map(t => wide(t.text)));
  if (slanted) {
    const each = (right - left) / x.names.length;
    left = Math.max(left, ...x.names.map((name, i) => Math.cos(slant) * wide(name) - (i + 0.5) * each + 8));
  } else right -= Math.max(0, wide(ticksOf(x, right - left, wide).at(-1)?.text || "") / 2 - 14);
  const xTicks = ticksOf(x, right - left, slanted ? upright : wide), xLines = folded(x.title, right - left);
  const bottom = h - 12 - texts - ROW * xLines.length;
  const out = svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, "font-family": FONT, "font-size": 12, fill: c.soft });
  const write = (text, [x, y], anchor, more) => out.append(svg("text", { x, y, "text-anchor": anchor, ...more }, text));
  const X = v => +(left + place(x, v) * (right - left)).toFixed(2), Y = v => +(bottom - place(y, v) * (bottom - top)).toFixed(2);
  ticksOf(y, bottom - top, upright).forEach(t => {
    if (!y.names && t.text) out.append(stroke(`M${left} ${Y(t.at)}H${right}`, { color: c.line, width: 0.7 }));
    write(t.text, [left - 6, Y(t.at) + 4], "end");
  });
  xTicks.forEach(t => {
    if (x.grid && t.text) out.append(stroke(`M${X(t.at)} ${top}V${bottom}`, { color: c.line, width: 0.7 }));
    out.append(stroke(`M${X(t.at)} ${bottom}v4`, { color: c.soft, width: 1 }));
    if (slanted) write(t.text, [X(t.at) + 4, bottom + 14], "end", { transform: `rotate(-60 ${X(t.at) + 4} ${bottom + 14})` });
    else write(t.text, [X(t.at), bottom + 17], "middle");
  });
  const id = `pane-${++panes}`, inside = svg("g", { "clip-path": `url(#${id})` }), above = svg("g", {});
  out.append(svg("clipPath", { id }, svg("rect", { x: left, y: top, width: right - left, height: bottom - top })),
    inside, stroke(`M${left} ${top}V${bottom}H${right}`, { color: c.soft, width: 1 }), above);
  Object.assign(chart, { width: w, titles: [...xLines, ...yLines].filter(Boolean) });
  chart.hits = [];
  items.forEach(item => (item.bars ? bars : item.band ? band : line)(chart, item, X, Y, { inside, above }));
  coinciding(chart.labels || [], X, Y, { left, right, top, bottom }).forEach(({ text, x, y }) => write(text, [x, y], "end", { fill: c.text }));
  xLines.forEach((text, i) => write(text, [(left + right) / 2, bottom + 6 + texts + ROW * (i + 1) - 4], "middle"));
  yLines.forEach((text, i) => write(text, [ROW * (i + 1), (top + bottom) / 2], "middle",
    { transform: `rotate(-90 ${ROW * (i + 1)} ${(top + bottom) / 2})` }));
  element.replaceChildren(out);
}

// coinciding names lines that lie on each other beside them, where no line is; the mouse names those for which there is no room.
function coinciding(lines, X, Y, { left, right, top, bottom }) {
  const ways = lines.map(l => l.points.map(p => [X(p.x), Y(p.y)])), seen = new Set(), taken = [], out = [];
  const on = (a, b) => {
    const shared = a.flatMap(([x, y]) => b.filter(q => q[0] === x).map(q => Math.abs(q[1] - y)));
    return shared.length > 0 && shared.every(away => away < 4);
  };
  const span = (way, from, to) => {
    const ys = way.filter(([x]) => x >= from - 4 && x <= to + 4).map(([, y]) => y);
    way.slice(1).forEach(([x, y], i) => [from, to].forEach(at => {
      const [x0, y0] = way[i];
      if (x0 < at && at < x) ys.push(y0 + (y - y0) * (at - x0) / (x - x0));
    }));
    return [Math.min(...ys), Math.max(...ys)];
  };
  ways.forEach((way, k) => {
    const group = ways.map((_, i) => i).filter(i => i === k || i > k && !seen.has(i) && !seen.has(k) && on(way, ways[i]));
    if (group.length < 2) return;
    group.forEach(i => seen.add(i));
    const rows = folded(group.map(i => lines[i].name).join(", "), right - left - 4), length = Math.max(...rows.map(wide));
    const tall = ROW * (rows.length - 1);
    for (let x = right - 2; x - length >= left + 2; x -= 8) {
      const [high, low] = span(way, x - length, x);
      // y is that of the last row.
      const y = [high - 8, low + 18 + tall].find(y => y - tall - 10 >= top && y <= bottom - 2 &&
        !taken.some(b => x - length < b.x && b.from < x && y - tall - 12 < b.y && b.above < y) &&
        ways.every(w => { const [a, b] = span(w, x - length, x); return b < y - tall - 12 || a > y + 4; }));
      if (y === undefined) continue;
      taken.push({ x, from: x - length, y, above: y - tall - 12 });
      rows.forEach((text, i) => out.push({ text, x, y: y - tall + ROW * i }));
      return;
    }
  });
  return out;
}

// A line has points with their marks, texts beside these, and what the mouse is told at each; or some of that.
function line(chart, { points, style, step, clip, under }, X, Y, { inside, above }) {
  const group = svg("g", under ? {} : { "data-series": "" }), at = points.map(p => [X(p.x), Y(p.y)]);
  if (style.dash !== null) {
    const way = at.map(([x, y], i) => i === 0 ? `M${x} ${y}` : step ? `H${x}V${y}` : `L${x} ${y}`).join("");
    group.append(stroke(at.length > 1 ? way : clip ? `${way}m-7 0h14` : way, style));
  }
  at.forEach(([x, y], i) => {
    if (style.mark) group.append(glyph(x, y, style, points[i].cell?.h));
    if (points[i].mark) group.append(svg("text", { x: x + 7, y: y + 4, fill: ink().text }, points[i].mark));
    if (points[i].text) chart.hits.push({ x, y, text: points[i].text, group: under ? null : group });
  });
  (clip ? inside : above).append(group);
}

// A band is an interval: an area where neighbours have one, a whisker where a point stands alone.
function band(chart, { band: s, color }, X, Y, { inside }) {
  if (s.length === 1) {
    const [[x, low, high]] = s;
    inside.append(stroke(`M${X(x)} ${Y(low)}V${Y(high)}M${X(x) - 4} ${Y(low)}h8M${X(x) - 4} ${Y(high)}h8`, { color, width: 1.5 }));
    return;
  }
  const edge = (list, end) => list.map(p => `${X(p[0])} ${Y(p[end])}`).join("L");
  inside.append(svg("path", { d: `M${edge(s, 2)}L${edge(s.toReversed(), 1)}z`, fill: color, opacity: isDark() ? 0.22 : 0.16 }));
}

// Bars reach from one place to another on both axes, with a name in them where there is room.
function bars(chart, { bars: list }, X, Y, { above }) {
  list.forEach(b => {
    const [x0, x1, y0, y1] = [X(b.x[0]), X(b.x[1]), Y(b.y[1]), Y(b.y[0])];
    above.append(svg("path", { d: `M${x0} ${y0}H${x1}V${y1}H${x0}z`, fill: b.color, stroke: ink().page, "stroke-width": 1 }));
    if (b.name && wide(b.name) < x1 - x0) {
      above.append(svg("text", { x: (x0 + x1) / 2, y: (y0 + y1) / 2 + 4, "text-anchor": "middle", "font-size": 10, fill: b.ink }, b.name));
    }
    chart.hits.push({ x0, x1, y0, y1, text: b.text });
  });
}

// point tells what the mouse points at, and makes the other lines faint.
const tip = make("div", { id: "tip", hidden: true });
document.body.append(tip);

function point(element, chart, e) {
  const at = e && element.firstChild.getBoundingClientRect(), away = h => Math.hypot(h.x - e.clientX + at.left, h.y - e.clientY + at.top);
  const within = h => h.x === undefined ? e.clientX - at.left >= h.x0 && e.clientX - at.left <= h.x1 &&
    e.clientY - at.top >= h.y0 && e.clientY - at.top <= h.y1 : away(h) < 10;
  const hit = e && chart.hits.filter(within).sort((a, b) => away(a) - away(b))[0];
  tip.hidden = !hit;
  element?.querySelectorAll("[data-series]").forEach(g => {
    if (hit && hit.group && g !== hit.group) g.setAttribute("opacity", 0.15);
    else g.removeAttribute("opacity");
  });
  if (!hit) return;
  tip.textContent = hit.text;
  tip.style.left = `${Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(e.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
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

// The interval of a line as one band for each stretch of points that have one. An upper end that
// nobody knows is the axis' end.
function bandsOf(line, top, bottom) {
  const stretches = [[]];
  line.points.forEach(p => {
    if (p.low === null || p.low === undefined) stretches.push([]);
    else stretches[stretches.length - 1].push([p.x, Math.max(p.low, bottom), p.high === null ? top : p.high]);
  });
  return stretches.filter(s => s.length > 0).map(band => ({ band, color: line.style.color }));
}

const withTexts = (line, describe) => ({ ...line, points: line.points.map(p => ({ ...p, text: describe(line, p) })) });

// What is claimed of the cells of a line: one dotted line for each end of each claim.
function theoryOf(line, metric, log) {
  const claims = new Map();
  for (const p of line.points) {
    for (const [claim, low, high] of p.cell.b || []) {
      if (D.claims[claim].metric !== D.metrics[metric].name) continue;
      for (const [end, y] of low === high ? [["", low]] : [["at least", low], ["at most", high]]) {
        if (log && y <= 0) continue;
        const { source, load, text } = D.claims[claim], key = claim + end;
        if (!claims.has(key)) claims.set(key, { clip: true, under: true, points: [], style: { color: line.style.color, dash: CLAIMED, width: 1.5 } });
        claims.get(key).points.push({ x: p.x, y,
          text: `${line.name}, as claimed (${source}; ${load || "any load"}): ${end} ${text}\n${show(y)}` });
      }
    }
  }
  return [...claims.values()];
}

// A line and its marker, as they are drawn in the chart.
function sample(style) {
  const e = svg("svg", { viewBox: "0 0 34 12", "aria-hidden": "true" });
  if (style.dash !== null) e.append(stroke("M0 6H34", style));
  if (style.mark) e.append(glyph(17, 6, style));
  return e;
}

// What a reader has to know of a cell before he relies on its figures, in sentences.
const caveatText = ([kind, n, all]) => D.caveats[kind].replace("%d", n).replace("%d", all);
const caveatsOf = cell => (cell.h || []).map(caveatText);

// hollows says of points with a cell and the name of a line which are hollow, and why; "" if none is.
function hollows(f, points) {
  const clauses = D.caveats.map((_, kind) => {
    const of = points.filter(p => (p.cell.h || []).some(h => h[0] === kind)), has = of.map(p => p.cell.h.find(h => h[0] === kind));
    if (of.length === 0) return "";
    const worst = has.reduce((a, b) => b[1] * a[2] > a[1] * b[2] ? b : a);
    const text = new Set(has.map(caveatText)).size > 1 ? "up to " + caveatText(worst) : caveatText(worst);
    const names = [...new Set(of.map(p => p.name))], some = names.length > 3 ? "" : `, of ${names.join(", ")}`;
    return `${text} (${of.length === points.length ? "all points" : `${of.length} of ${points.length} points${some}`})`;
  }).filter(Boolean);
  f.note = clauses.length ? `Hollow: ${clauses.join("; ")}.` : "";
  return f.note && " " + f.note;
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
  const f = { tools, head, body, caption, rows: () => [], cells: [], off: new Set(), note: "",
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
    f.note = "";
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

// A picture of a figure stands alone: light, with its heading, the legend, all panels where the page has them, and the note on hollow marks.
function picture(f) {
  printing = true;
  f.redraw();
  const box = f.body.getBoundingClientRect(), c = ink(), pad = 12, top = 36, font = "'Liberation Sans', Arial, sans-serif";
  const width = Math.ceil(box.width) + 2 * pad, notes = folded(f.note, width - 2 * pad);
  const height = Math.ceil(box.height) + top + pad + ROW * notes.length;
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
  f.body.querySelectorAll(".plot > svg").forEach(inner);
  notes.forEach((line, i) => text(line, { x: pad, y: height - pad - ROW * (notes.length - 1 - i), fill: c.soft, "font-size": 12 }));
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
  f.body.append(make("p", { class: "empty" }, why[0].toUpperCase() + why.slice(1)));
  f.caption.textContent = "";
  f.rows = () => [["nothing"]];
}
