"use strict";
// The charts of each section, and the start.

const NUMERIC = D.columns.map((_, i) => i).filter(i => D.columns[i].numeric && D.columns[i].values.length > 1 && i !== LABEL);
const VARIED = D.columns.map((_, i) => i).filter(i => D.columns[i].values.length > 1 && i !== LABEL);
// What an algorithm has one value of needs no choice: its topology, for instance.
const SPLITS = VARIED.filter(i => {
  const seen = new Map();
  return D.cells.some(cell => {
    if (!seen.has(cell.d[LABEL])) seen.set(cell.d[LABEL], cell.d[i]);
    return seen.get(cell.d[LABEL]) !== cell.d[i];
  });
});
// The first is the figure of the tables, whose interval is known. Of very many cells the page has that alone.
const statistics = () => D.quantiles ? [["center", "figure"], ...["median", "mean", "p90", "p95", "p99", "min", "max"].map(s => [s, s])] :
  [["center", "figure"]];

// The variable of the horizontal axis that comes first: the number of nodes, else the one with most values.
function firstVariable(preferred) {
  const found = (preferred || ["nodes"]).map(name => D.columns.findIndex(c => c.name === name)).find(i => NUMERIC.includes(i));
  if (found !== undefined) return found;
  return NUMERIC.slice().sort((a, b) => D.columns[b].values.length - D.columns[a].values.length)[0] ?? null;
}

// Values that are far apart cannot be read on one linear axis.
function farApart(metric) {
  const values = D.cells.map(cell => figure(cell, metric)).filter(Boolean).map(f => f.center).filter(v => v !== null);
  return values.length > 0 && Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 300;
}

// A chart of a metric: what is varied along, in panels, and how the axes are are the reader's choice.
function explorer(host, o) {
  const state = { metric: o.metric, x: o.x, panel: "auto", statistic: "center", logX: false, logY: farApart(o.metric),
    theory: true, band: true, zero: !/^(availability|fairness)/.test(D.metrics[o.metric].name) };
  const f = buildFigure(host, "lines", "", o.wide, draw);
  const set = key => v => { state[key] = v; };
  const column = name => D.columns.findIndex(c => c.name === name), named = i => D.columns[i].name;
  const option = i => [named(i), title(D.columns[i])];
  const flag = (key, label) => tick(f, label, () => state[key], set(key));
  f.tools.append(
    choose(f, "metric", "Metric", D.metrics.map(m => [m.name, m.title]), () => D.metrics[state.metric].name, v => {
      state.metric = D.metrics.findIndex(m => m.name === v);
      state.logY = farApart(state.metric);
      logY.querySelector("input").checked = state.logY;
    }),
    choose(f, "x", "against", [...NUMERIC.map(option), ["none", "algorithm"]],
      () => state.x === null ? "none" : named(state.x), v => { state.x = v === "none" ? null : column(v); }));
  if (SPLITS.length > 1) {
    f.tools.append(choose(f, "panels", "panels", [["auto", "automatic"], ["none", "one"], ...SPLITS.map(option)],
      () => typeof state.panel === "number" ? named(state.panel) : state.panel,
      v => { state.panel = v === "auto" || v === "none" ? v : column(v); }));
  }
  const logY = flag("logY", "log y");
  f.tools.append(
    choose(f, "show", "show", statistics(), () => state.statistic, set("statistic")),
    flag("logX", "log x"), logY, flag("zero", "from 0"), flag("band", "interval"), flag("theory", "claims"));

  // What has neither the axis nor panels is held at one value, unless the reader wants a line for each.
  // The first shown is the level that most cells have a value at.
  const level = (i, cells) => {
    const counts = D.columns[i].values.map((_, k) => cells.filter(cell => cell.d[i] === k && figure(cell, state.metric)?.center != null).length);
    const k = counts.indexOf(Math.max(...counts));
    return counts[k] > 0 ? k : D.columns[i].values.findIndex((_, n) => cells.some(cell => cell.d[i] === n));
  };
  const levels = new Map(), holders = make("span", { class: "tools" });
  f.tools.append(holders);
  SPLITS.forEach(i => keep(`${f.name}.${named(i)}`, () => levels.has(i) ? (levels.get(i) === "all" ? "*" : D.columns[i].values[levels.get(i)]) : [], ([v]) => {
    const k = v === "*" ? "all" : D.columns[i].values.indexOf(v);
    if (k === -1) levels.delete(i);
    else levels.set(i, k);
  }));
  function held(columns, cells) {
    const focused = [...holders.querySelectorAll("select")].indexOf(document.activeElement);
    holders.replaceChildren(...columns.map(i => select(title(D.columns[i]), [...D.columns[i].values.map((v, k) => [k, v || "none"]),
      ["all", "a line for each"]], levels.get(i) ?? level(i, cells),
    v => { levels.set(i, v === "all" ? v : Number(v)); remember(); f.redraw(); })));
    if (focused >= 0) holders.querySelectorAll("select")[focused]?.focus();
    const used = [];
    columns.forEach(i => {
      const k = levels.get(i) ?? level(i, cells);
      if (k === "all") return;
      cells = cells.filter(cell => cell.d[i] === k);
      used.push([i, D.columns[i].values[k]]);
    });
    return [cells, holding(used)];
  }

  function draw(fig, cells) {
    const m = D.metrics[state.metric];
    const along = state.x === null ? "algorithm" : title(D.columns[state.x]);
    fig.head.textContent = `${m.title} against ${along}`;
    const read = cell => {
      const s = figure(cell, state.metric);
      if (!s || s[state.statistic] === null) return null;
      const interval = state.band && state.statistic === "center";
      return { y: s[state.statistic], low: interval ? s.low : null, high: interval ? s.high : null, f: s,
        mark: mark(cell, m, s[state.statistic]) };
    };
    const splits = splitting(cells, state.x);
    const panel = choosePanel(state.panel, splits);
    const rest = splits.filter(i => i !== panel);
    const [list, at] = held(rest, cells);
    const all = splitting(list, state.x).filter(i => i !== panel);
    const groups = panel === null ? [["", list]] : D.columns[panel].values.map((v, k) =>
      [`${title(D.columns[panel])} ${v || "none"}`, list.filter(cell => cell.d[panel] === k)]).filter(g => g[1].length > 0);
    drawLines(fig, state, m, along, groups.map(([name, some]) => ({ name, lines: linesOf(some, state.x, all, read) })), list);
    fig.caption.prepend(at);
  }
  return f;
}

// Panels of their own for what has few values, if lines alone would be too many.
function choosePanel(chosen, splits) {
  if (chosen === "none") return null;
  if (chosen !== "auto") return chosen;
  const few = splits.filter(i => D.columns[i].values.length <= 6);
  return few.length ? few[0] : null;
}

// parted gives each panel as many of the named lines as it has room for, and says which part of them it has.
function parted(panels, names) {
  const parts = Math.ceil(names.length / D.mostLines), end = i => Math.floor(i * names.length / parts);
  if (parts < 2) return panels;
  return panels.flatMap(p => Array.from({ length: parts }, (_, i) => ({ ...p, name: [p.name, `${i + 1} of ${parts}`].filter(Boolean).join(", "),
    lines: p.lines.filter(line => names.slice(end(i), end(i + 1)).includes(line.name)) }))).filter(p => p.lines.length > 0);
}

// plotPanels plots what chart makes of each panel, under their names: beside each other, or below each other
// where the names of a place need the width. More stands behind the heading in its label.
function plotPanels(fig, panels, more, chart) {
  const charts = panels.map(chart), alone = panels.length === 1 || charts.some(({ x }) => (x.names || []).length > 5);
  const host = make("div", { class: "panels" + (alone ? " one" : "") });
  const holders = panels.map(p => make("div", {}, p.name ? make("p", { class: "panel-title" }, p.name) : null));
  host.append(...holders);
  fig.body.append(host);
  panels.forEach((p, k) => plot(holders[k], charts[k],
    `${fig.head.textContent}${more}${p.name ? ", " + p.name : ""}: the same as a table below`));
}

// same says that every trial of panels has one value, in which a reader would see nothing; "" if that is not so.
function same(panels, m) {
  const points = panels.flatMap(p => p.lines.flatMap(line => line.points)), [{ y }] = points;
  const still = q => q.y === y && !q.f.censored && [q.f.min ?? q.low ?? y, q.f.max ?? q.high ?? y].every(v => v === y);
  return points.every(still) ? `${panels.map(p => p.name).filter(Boolean).join(", ")}: ${m.title} is ${show(y)} in every trial.`.replace(/^: /, "") : "";
}

function drawLines(fig, state, m, along, panels, cells) {
  let dropped = 0;
  panels = panels.map(p => ({ ...p, lines: p.lines.map(line => {
    const points = line.points.filter(q => (!state.logY || q.y > 0) && (!state.logX || state.x === null || q.x > 0));
    dropped += line.points.length - points.length;
    return { ...line, points };
  }).filter(line => line.points.length > 0) })).filter(p => p.lines.length > 0);
  const total = Math.max(0, ...panels.map(p => p.lines.length));
  if (total === 0) {
    nothing(fig, `No cell shown has a value of ${m.title}` + (dropped ? " above 0, which a logarithmic axis needs." : "."));
    return;
  }
  const styles = new Map();
  panels.forEach(p => {
    p.lines = p.lines.slice(0, MOST_LINES);
    p.lines.forEach(line => styles.set(line.name, line.style));
  });
  const claims = { color: ink().soft, dash: CLAIMED }, said = "as claimed";
  const claimable = state.theory && panels.some(p => p.lines.some(line => theoryOf(line, state.metric, state.logY).length));
  if (styles.size > 1 || claimable) {
    fig.body.append(legend(fig, [...[...styles].map(([name, style]) => [style, name]), ...(claimable ? [[claims, said]] : [])]));
  }
  panels = panels.map(p => ({ ...p, lines: p.lines.filter(line => styles.size < 2 || !fig.off.has(line.name)) })).filter(p => p.lines.length > 0);
  if (panels.length === 0) {
    allHidden(fig);
    return;
  }
  const folds = panels.map(p => same([p], m)).filter(Boolean);
  if (folds.length === panels.length) {
    nothing(fig, same(panels.map(p => ({ ...p, name: "" })), m) || folds.join(" "));
    fig.rows = () => tableOf(panels, state, m, along);
    return;
  }
  const everywhere = panels;
  panels = panels.filter(p => !same([p], m));
  if (state.x !== null) panels = parted(panels, [...new Set(panels.flatMap(p => p.lines.map(line => line.name)))]);
  const points = panels.flatMap(p => p.lines.flatMap(line => line.points));
  const ys = points.flatMap(p => [p.y, p.low, p.high]).filter(v => v !== null && v !== undefined && (!state.logY || v > 0));
  let top = Math.max(...ys);
  const bottom = Math.min(...ys);
  const theory = panels.map(p => p.lines.map(line => claimable && !fig.off.has(said) ? theoryOf(line, state.metric, state.logY) : []));
  const claimed = theory.flat(2).flatMap(l => l.points.map(p => p.y));
  const measured = top;
  claimed.forEach(v => { if (v <= 1.6 * measured) top = Math.max(top, v); });
  const xs = [...new Set(points.map(p => p.x))].sort((a, b) => a - b);
  const y = verticalAxis(m.title, top, bottom, state);
  const x = state.x === null ? categories(along, panels) : horizontalAxis(along, xs, state.logX);
  plotPanels(fig, panels, "", (p, k) => ({ x, y, items: [...(state.band ? p.lines.flatMap(l => bandsOf(l, y.max, y.min)) : []), ...theory[k].flat(),
      ...p.lines.map(l => withTexts(l, (l, q) => pointText(l, q, m, state)))],
    labels: state.x === null ? [] : p.lines }));
  caption(fig, state, m, along, { x, y, dropped, total, cells, claimed, top,
    marked: panels.flatMap(p => p.lines.flatMap(line => line.points.map(q => ({ cell: q.cell, name: line.name })))) });
  fig.caption.append(...folds.map(text => " " + text));
  fig.rows = () => tableOf(everywhere, state, m, along);
}

// Labels that are not shown leave no gap on an axis of labels.
function categories(along, panels) {
  const used = [...new Set(panels.flatMap(p => p.lines.map(line => line.label)))].sort((a, b) => a - b);
  panels.forEach(p => p.lines.forEach(line => line.points.forEach(q => { q.x = used.indexOf(line.label); })));
  return named(along, used.map(i => D.columns[LABEL].values[i]));
}

// called is what the statistic that is shown is called of a metric.
const called = (state, m) => state.statistic !== "center" ? state.statistic : m.pooled ? "mean" : "median";

function pointText(line, p, m, state) {
  const at = state.x === null ? "" : `${title(D.columns[state.x])} ${show(p.x)}\n`;
  const interval = p.low === null && p.high === null ? "" : figureText({ ...p.f }, m)[1];
  const censored = p.f.censored ? `, ${p.f.censored} ${m.bound ? "beyond" : "timed out"}` : "";
  return [line.name, `${at}${called(state, m)} ${show(p.y)}${p.mark}${interval} ${m.unit}`, `n ${p.f.n}${censored}`,
    ...caveatsOf(p.cell)].join("\n");
}

// What captions say, in sentences.
const vertical = (log, from) => `The vertical axis is ${log ? "logarithmic" : "linear"} and starts at ${show(from)}${log || from === 0 ? "" : ", not at 0"}.`;
const holding = used => used.length ? `This chart holds ${used.map(([i, v]) => `${title(D.columns[i])} at ${v || "none"}`).join(", ")}. ` : "";

function allHidden(fig) {
  const entries = fig.body.firstChild;
  nothing(fig, "Every line is hidden: press a name above to show it again.");
  fig.body.prepend(entries);
}

function caption(fig, state, m, along, a) {
  const parts = [state.x === null ? "The horizontal axis has one place for each algorithm." :
    `The horizontal axis is ${state.logX ? "logarithmic" : "linear"}.`, vertical(state.logY, a.y.min),
  m.doc ? `${m.title[0].toUpperCase()}${m.title.slice(1)} is the column ${m.name}, defined as “${m.doc}”.` : ""];
  const missing = a.cells.filter(cell => { const s = figure(cell, state.metric); return !s || s[state.statistic] === null; }).length;
  if (missing) parts.push(`${missing} of ${a.cells.length} cells have no ${called(state, m)}: nothing was measured, or too many timed out or were beyond.`);
  if (a.dropped) parts.push(`${a.dropped} values that are not above 0 have no place on a logarithmic axis.`);
  if (a.claimed.some(v => v > a.y.max)) parts.push("Claims beyond the axis are cut off.");
  const doubtful = a.cells.filter(cell => { const s = figure(cell, state.metric); return s && mark(cell, m, s[state.statistic]); })
    .sort((p, q) => q.u - p.u);
  if (doubtful.length) parts.push(MARKED(doubtful[0]) + ".");
  if (a.total > MOST_LINES) parts.push(`Of up to ${a.total} lines in a panel ${MOST_LINES} are drawn: filter to see the others.`);
  fig.caption.textContent = parts.filter(Boolean).join(" ") + hollows(fig, a.marked);
}

function tableOf(panels, state, m, along) {
  const rows = [["line", "panel", along, "n", "larger", called(state, m), "low", "high", "claimed", "hollow"]];
  panels.forEach(p => p.lines.forEach(line => line.points.forEach(q => {
    const claims = (q.cell.b || []).filter(b => D.claims[b[0]].metric === m.name).map(([c, low, high]) =>
      `${D.claims[c].load || "any load"} (${D.claims[c].source}): ${low === high ? show(low) : show(low) + " to " + show(high)}`).join("; ");
    rows.push([line.name, p.name, state.x === null ? value(q.cell, LABEL) : q.x, q.f.n, q.f.censored, q.mark ? show(q.y) + q.mark : q.y, q.low, q.high, claims, caveatsOf(q.cell).join("; ")]);
  })));
  return rows;
}

// Controls that hold all columns but the label at one value, for charts that have no axis for them.
function holds(f, first, full) {
  const held = new Map();
  SPLITS.forEach(i => {
    const values = D.columns[i].values;
    // The first shown is the level at which most cells have something.
    const counts = values.map((_, k) => D.cells.filter(cell => cell.d[i] === k && full(cell)).length), most = Math.max(...counts);
    const start = first(D.columns[i]);
    held.set(i, counts[start] === most ? start : counts.indexOf(most));
    f.tools.append(choose(f, D.columns[i].name, title(D.columns[i]), values.map(v => [v, v || "none"]), () => values[held.get(i)],
      v => { held.set(i, values.indexOf(v)); }));
  });
  // A value that nothing shown has gives way to one that something has.
  return cells => {
    let list = cells;
    const used = [];
    held.forEach((k, i) => {
      const has = list.filter(cell => cell.d[i] === k);
      const kept = has.length || !list.length ? has : list.filter(cell => cell.d[i] === list[list.length - 1].d[i]);
      if (kept.length) used.push([i, value(kept[0], i)]);
      list = kept;
    });
    return [list, holding(used)];
  };
}

// The distribution of single operations: how many took no longer, and the slowest ones.
function distributions(host) {
  const metrics = [...new Set(D.cells.flatMap(cell => (cell.e || []).map(s => s.m)))];
  if (metrics.length === 0) {
    still("spread", "No operations were recorded with these runs.");
    return;
  }
  const state = { metric: metrics[0], log: true };
  const make2 = (kind, heading, draw) => buildFigure(host, kind, heading, false, draw);
  const tools = f => {
    if (metrics.length > 1) f.tools.append(choose({ name: f.name, redraw: () => both() }, "metric", "Time",
      metrics.map(m => [m, D.metrics.find(d => d.name === m).title]), () => state.metric, v => { state.metric = v; }));
  };
  const first = column => column.name === "nodes" ? column.values.length - 1 : 0;
  const ecdf = make2("ecdf", "Distribution function", (f, cells) => drawSpread(f, cells, pickA, state, false));
  tools(ecdf);
  const pickA = holds(ecdf, first, cell => (cell.e || []).some(s => s.m === state.metric && s.v.length > 0));
  ecdf.tools.append(tick(ecdf, "log x", () => state.log, on => { state.log = on; }));
  const tail = make2("tail", "Tail, on a reversed logarithmic scale", (f, cells) => drawSpread(f, cells, pickB, state, true));
  const pickB = holds(tail, first, cell => (cell.e || []).some(s => s.m === state.metric && s.v.length > 0));
  const both = () => { ecdf.redraw(); tail.redraw(); };
}

function drawSpread(f, cells, pick, state, tail) {
  const [list, at] = pick(cells);
  let lines = list.map(cell => ({ cell, s: (cell.e || []).find(s => s.m === state.metric) }))
    .filter(l => l.s && l.s.v.length > 0).slice(0, MOST_LINES);
  if (lines.length === 0) {
    nothing(f, `No cell shown has operations with ${state.metric}.`);
    return;
  }
  const log = tail || state.log;
  lines.forEach(l => {
    const n = l.s.n;
    // Where operations were cut off, the shares are Kaplan and Meier's.
    l.points = l.s.v.map((v, i) => {
      const rank = l.s.r ? l.s.r[i] : i + 1;
      return l.s.g ? { v, gone: l.s.g[i], still: l.s.b[i], low: l.s.l[i], high: l.s.h[i] }
        : { v, gone: rank / n, still: (n - rank + 1) / n, low: null, high: null };
    }).filter(p => !log || p.v > 0);
    l.name = value(l.cell, LABEL);
    l.style = styleOf(l.cell.d[LABEL]);
  });
  f.body.append(legend(f, lines.map(l => [l.style, `${l.name} (n ${l.s.n}${l.s.x ? `, ${l.s.x} not ended` : ""})`, l.name])));
  lines = lines.filter(l => !f.off.has(l.name));
  if (lines.length === 0) {
    allHidden(f);
    return;
  }
  const values = lines.flatMap(l => l.points.map(p => p.v));
  const high = Math.max(...values), low = Math.min(...values);
  const most = Math.max(...lines.map(l => l.s.n));
  // A point of the tail stands at 1 / (the share that took at least as long).
  const xy = p => tail ? [1 / p.still, p.v] : [p.v, p.gone];
  const within = p => p.low === null || p.high === null ? "" : ` [${show(100 * p.low)}, ${show(100 * p.high)}]`;
  const timed = D.metrics.find(m => m.name === state.metric);
  const marked = (l, v) => v === null || !mark(l.cell, timed, v) ? v : show(v) + D.mark;
  const text = (l, p) => `${l.name}\n${show(p.v)}${mark(l.cell, timed, p.v)} ms\n` + (tail
    ? `${show(100 * p.still)} % took at least as long` : `${show(100 * p.gone)}${within(p)} % took no longer`);
  const time = timed.title, dots = l => l.points.length < 25 ? { path: "m-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z" } : null;
  const percentiles = { title: "percentile", log: true, min: 1, max: decadeUp(Math.max(most, 10)), format: v => show(100 - 100 / v) };
  const times = { title: time, ...(log ? { log, min: low / 1.1, max: high * 1.1 } : { min: 0, max: nice(high) }) };
  // The mark of a curve stands where half of the operations have ended, or as many as ever do.
  const middle = l => [l.points.find(p => p.gone >= 0.5) || l.points.at(-1)].filter(Boolean).map(p => ({ x: xy(p)[0], y: xy(p)[1], cell: l.cell }));
  plotPanels(f, parted([{ name: "", lines }], lines.map(l => l.name)), ` of ${state.metric}`, panel => ({
    x: tail ? percentiles : times, y: tail ? { title: time, min: 0, max: nice(high) } : { title: "share of operations", min: 0, max: 1 },
    items: panel.lines.flatMap(l => [{ step: !tail, style: { ...l.style, mark: dots(l) },
      points: l.points.map(p => ({ x: xy(p)[0], y: xy(p)[1], text: text(l, p) })) },
    { under: true, style: { ...l.style, dash: null }, points: middle(l) }]),
  }));
  f.caption.textContent = at + (tail ? "The horizontal axis has as much room for each further nine of the percentile." :
    `The horizontal axis is ${log ? "logarithmic" : "linear"}.`) + " " + vertical(false, 0) +
    lines.filter(l => mark(l.cell, timed, l.s.v[0])).slice(0, 1).map(l => ` ${MARKED(l.cell)}.`).join("") +
    (lines.some(l => l.s.g) ? " Where operations were cut off by the end of their trial, the curve is the estimate of Kaplan and Meier." : "") + hollows(f, lines);
  const quantile = (l, p) => { const q = l.s.v.findIndex((_, i) => (l.s.g ? l.s.g[i] : (l.s.r ? l.s.r[i] : i + 1) / l.s.n) >= p); return q < 0 ? null : l.s.v[q]; };
  f.rows = () => [["algorithm", "operations", "not ended", "fastest", "50 %", "90 %", "99 %", "slowest that ended"],
    ...lines.map(l => [l.name, l.s.n, l.s.x || 0, ...[l.s.v[0], quantile(l, 0.5), quantile(l, 0.9), quantile(l, 0.99),
      l.s.v[l.s.v.length - 1]].map(v => marked(l, v))])];
}

// A line for each algorithm, of what was granted and how long it took, step by step of a load that rises.
function ramps(host) {
  if (!D.cells.some(cell => cell.r)) {
    absent("ramp");
    return;
  }
  [["granted", "Granted against requested", 1, "entries per second"], ["waits", "Waits against requested", 2, "mean wait (ms)"]]
    .forEach(([kind, heading, part, unit]) => {
      const f = buildFigure(host, kind, heading, false, draw);
      const pick = holds(f, column => column.name === "nodes" ? column.values.length - 1 : 0, cell => cell.r);

      function draw(fig, cells) {
        const [list, at] = pick(cells);
        const logY = part === 2;
        const all = list.filter(cell => cell.r).slice(0, MOST_LINES).map(cell => ({ cell, name: value(cell, LABEL),
          style: styleOf(cell.d[LABEL]),
          points: cell.r.map(s => ({ cell, x: s[0], y: s[part] })).filter(p => p.y !== null && (!logY || p.y > 0)) }))
          .filter(line => line.points.length > 0);
        if (all.length === 0) {
          nothing(fig, "No cell shown has a load that rises.");
          return;
        }
        fig.body.append(legend(fig, all.map(line => [line.style, line.name])));
        const lines = all.filter(line => !fig.off.has(line.name));
        if (lines.length === 0) {
          allHidden(fig);
          return;
        }
        const xs = [...new Set(lines.flatMap(line => line.points.map(p => p.x)))].sort((a, b) => a - b);
        const ys = lines.flatMap(line => line.points.map(p => p.y));
        const y = verticalAxis(unit, Math.max(...ys), Math.min(...ys), { logY, zero: true });
        const same = { clip: true, under: true, points: [0, xs.at(-1)].map(v => ({ x: v, y: v })), style: { color: ink().soft, dash: ASKED, width: 1 } };
        plotPanels(fig, parted([{ name: "", lines }], lines.map(line => line.name)), "", panel => ({
          x: horizontalAxis("requests per second", xs, false), y,
          items: [...(part === 1 ? [same] : []), ...panel.lines.map(line => withTexts(line, (l, p) =>
            [l.name, `at ${show(p.x)} requests per second`, `${show(p.y)} ${unit}`, ...caveatsOf(p.cell)].join("\n")))],
        }));
        fig.caption.textContent = at + "The horizontal axis is linear: it is the rate that each step asks for, of all processes together. " +
          vertical(logY, y.min) + (part === 1 ? " It counts the entries in the time of the step; on the dashed line all requests are granted." :
          " The mean is over the requests that came in the step, whenever they were granted.") +
          hollows(fig, lines.flatMap(line => line.points.map(p => ({ cell: p.cell, name: line.name }))));
        fig.rows = () => [["algorithm", "requests per second", unit], ...lines.flatMap(line => line.points.map(p => [line.name, p.x, p.y]))];
      }
    });
}

// A histogram for each algorithm, of the phase at which something happened to its leader.
function phases(host) {
  if (!D.cells.some(cell => cell.p)) {
    absent("phase");
    return;
  }
  const f = buildFigure(host, "phase", "Operations by phase", true, draw);
  const pick = holds(f, column => column.name === "nodes" ? column.values.length - 1 : 0, cell => cell.p);

  function draw(fig, cells) {
    const [list, at] = pick(cells);
    const shown = list.filter(cell => cell.p).slice(0, MOST_LINES);
    if (shown.length === 0) {
      nothing(fig, "No cell shown has a leader that repeats something.");
      return;
    }
    const tested = D.cells.filter(cell => cell.p && cell.p.t[1] !== null).length;
    const verdict = cell => {
      const [chi, p, holm] = cell.p.t;
      return p === null ? `n ${cell.p.n}: too few to test` : `n ${cell.p.n}, χ² ${show(chi)} with ${cell.p.b.length - 1} degrees of freedom, ` +
        `p ${show(p)}` + (tested > 1 ? `, ${show(holm)} for ${tested} cells together` : "");
    };
    const panels = make("div", { class: "panels" + (shown.length === 1 ? " one" : "") });
    fig.body.append(panels);
    shown.forEach(cell => {
      const name = value(cell, LABEL), bins = cell.p.b, each = cell.p.n / bins.length;
      const holder = make("div", {}, make("p", { class: "panel-title" }, [`${name}: ${verdict(cell)}`, ...caveatsOf(cell)].join("; ")));
      panels.append(holder);
      plot(holder, { x: named("share of the period", bins.map((_, i) => show((i + 0.5) / bins.length))),
        y: verticalAxis("operations", Math.max(...bins, each), 0, { zero: true }),
        items: [{ bars: bins.map((k, i) => ({ x: [i - 0.48, i + 0.48], y: [0, k], color: styleOf(cell.d[LABEL]).color,
          text: `${name}\nphase ${show(i / bins.length)} to ${show((i + 1) / bins.length)}: ${k}` })) },
        { under: true, points: [-0.5, bins.length - 0.5].map(x => ({ x, y: each })), style: { color: ink().soft, dash: ASKED, width: 1 } }],
      }, `Phase of the leader, ${name}: the same as a table below`);
    });
    fig.caption.textContent = at + `Below each bar stands the middle of its bin. ${vertical(false, 0)} The dashed line is what a uniform phase gives ` +
      "on average. The test is Pearson's χ², with at least five operations a bin. A timer that was late counts with the last bin.";
    fig.rows = () => [["algorithm", "from", "to", "operations", "p"], ...shown.flatMap(cell => cell.p.b.map((k, i) =>
      [value(cell, LABEL), i / cell.p.b.length, (i + 1) / cell.p.b.length, k, cell.p.t[1]]))];
  }
}

// A bar for each algorithm, of its kinds of messages.
function kinds(host) {
  const measures = ["sent", "delivered", "lost", "bytes"];
  if (!D.cells.some(cell => (cell.k || []).length > 0)) {
    still("kinds", "No cell has messages by kind: messages.csv is missing, or no trial was ok.");
    return;
  }
  const state = { measure: 0 };
  const f = buildFigure(host, "kinds", "Messages of a trial, by kind", true, draw);
  f.tools.append(choose(f, "count", "Count", measures.map(m => [m, m]), () => measures[state.measure], v => { state.measure = measures.indexOf(v); }));
  const pick = holds(f, column => column.name === "nodes" ? column.values.length - 1 : 0, cell => (cell.k || []).length > 0);

  function draw(fig, cells) {
    const [list, at] = pick(cells);
    const bars = list.filter(cell => (cell.k || []).length > 0).slice(0, MOST_LINES);
    if (bars.length === 0) {
      nothing(fig, "No cell shown has messages by kind: messages.csv is missing, or no trial was ok.");
      return;
    }
    const names = bars.map(cell => value(cell, LABEL)), ink = k => isDark() ? "#12161b" : k % 7 > 2 && k % 7 < 6 ? "#000" : "#fff";
    let most = 0;
    const parts = bars.flatMap((cell, i) => {
      let from = 0;
      return cell.k.map((e, k) => {
        const row = bars.length - 1 - i, to = from + e[1 + state.measure];
        const part = { x: [from, to], y: [row - 0.4, row + 0.4], color: palette()[k % 7], name: D.kinds[e[0]], ink: ink(k),
          text: `${names[i]}\n${D.kinds[e[0]]} ${show(to - from)}` };
        most = Math.max(most, from = to);
        return part;
      });
    });
    plot(fig.body, { x: { title: `${measures[state.measure]} in a trial, mean`, min: 0, max: nice(most), grid: true },
      y: named("", names.toReversed()), items: [{ bars: parts }], height: `${Math.max(8, 5 + 1.9 * bars.length)}rem` },
    "Messages by kind: the same as a table below");
    fig.caption.textContent = at + "The horizontal axis is linear and starts at 0. " +
      "The colours count the kinds of each algorithm; the names of narrow parts are in the table.";
    fig.rows = () => [["algorithm", "kind", ...measures], ...bars.flatMap(cell => cell.k.map(e =>
      [value(cell, LABEL), D.kinds[e[0]], ...e.slice(1)]))];
  }
}

// What was asked of the network, and what it did.
function faults(host) {
  if (D.faults.length === 0) {
    still("faults", "These runs ask for no fault, or do not say what came of it.");
    return;
  }
  D.faults.forEach((fault, i) => buildFigure(host, "faults", `${fault}: requested and achieved`, false, draw(fault, i)));

  function draw(fault, index) {
    return (fig, cells) => {
      const all = cells.flatMap(cell => (cell.a || []).filter(a => a[0] === index)
        .map(([, x, y, low, high]) => ({ cell, x, y, low, high })));
      if (all.length === 0) {
        nothing(fig, "No cell shown says it.");
        return;
      }
      const labels = [...new Set(all.map(p => p.cell.d[LABEL]))].sort((a, b) => a - b), name = k => D.columns[LABEL].values[k];
      fig.body.append(legend(fig, labels.map(k => [{ ...styleOf(k), dash: null }, name(k)])));
      const points = all.filter(p => !fig.off.has(name(p.cell.d[LABEL])));
      if (points.length === 0) {
        allHidden(fig);
        return;
      }
      const high = nice(Math.max(...points.flatMap(p => [p.x, p.y]), 1e-9) * 1.02);
      const both = title => ({ title, min: 0, max: high, grid: true });
      const lines = labels.map(k => ({ name: name(k), style: { ...styleOf(k), dash: null },
        points: points.filter(p => p.cell.d[LABEL] === k).map(p => ({ ...p,
          text: [`${name(k)}, cell ${p.cell.c}`, `requested ${show(p.x)}`, `achieved ${show(p.y)}`, ...caveatsOf(p.cell)].join("\n") })) }))
        .filter(line => line.points.length > 0);
      plotPanels(fig, parted([{ name: "", lines }], lines.map(line => line.name)), "", panel => ({ x: both("requested"), y: both("achieved"),
        items: [{ under: true, points: [0, high].map(v => ({ x: v, y: v })), style: { color: ink().soft, dash: ASKED, width: 1 } },
          ...panel.lines] }));
      fig.caption.textContent = "Each point is a cell: the mean over its trials, those that timed out or broke a promise too. " +
        "On the dashed line, what was asked for is what happened. Both axes are linear and start at 0." +
        hollows(fig, points.map(p => ({ cell: p.cell, name: name(p.cell.d[LABEL]) })));
      fig.rows = () => [["cell", ...D.columns.map(title), "requested", "achieved", "least", "most"],
        ...points.map(p => [p.cell.c, ...D.columns.map((_, i) => value(p.cell, i)), p.x, p.y, p.low, p.high])];
    };
  }
}

// Split brain and availability, along whatever failure was varied.
function failures(host) {
  const metrics = D.main.filter(i => D.metrics[i].spans);
  if (metrics.length === 0) {
    absent("failures");
    return;
  }
  const rates = ["crash_rate", "loss", "duplication"].concat(NUMERIC.map(i => D.columns[i].name)
    .filter(name => /^(failures|network|detector|scenario)_/.test(name)));
  const x = rates.map(name => D.columns.findIndex(c => c.name === name)).find(i => NUMERIC.includes(i));
  if (x === undefined) still("failures", "No failure was varied.");
  else metrics.forEach(metric => explorer(host, { metric, x }));
}

// What a section is about is not in these runs.
function absent(id) {
  document.getElementById(id).remove();
  document.querySelector(`nav a[href="#${id}"]`).remove();
}

// A section that has nothing to say is a sentence.
function still(id, why) {
  const section = document.getElementById(id);
  section.classList.add("still");
  section.append(make("p", { class: "said" }, why));
}

function start() {
  buildPaper();
  buildFilters();
  buildTable();
  buildDownloads();
  buildPlayers();
  const host = id => document.querySelector(`#${id} .charts`);
  // Of times, if there is no main one, the last: the duration of a trial.
  const first = D.main.find(i => D.metrics[i].wait) ?? D.metrics.findLastIndex(m => m.wait);
  const count = D.main.find(i => D.metrics[i].count);
  const asked = D.question.length ? D.question : [first >= 0 ? first : 0, count >= 0 ? count : 0];
  if (D.metrics.length === 0) still("figures", "No trial was ok: there is no figure to draw.");
  else asked.slice(0, 2).forEach(metric => explorer(host("figures"), { metric, x: firstVariable() }));
  distributions(host("spread"));
  ramps(host("ramp"));
  phases(host("phase"));
  kinds(host("kinds"));
  failures(host("failures"));
  faults(host("faults"));
  document.getElementById("thinned").textContent = `A curve is drawn through at most ${D.points} points of its sample, ` +
    "denser towards the slowest; each of them is exact.";
  if (!D.quantiles) {
    document.getElementById("table-tools").before(make("p", { class: "small" }, "There are so many cells that this page has the figures and " +
      "their intervals alone; summary.csv has the other figures."));
  }
  buildAddress();
  redraw();
  document.documentElement.dataset.ready = String(Math.round(performance.now())); // ms since it was opened
}

start();
