"use strict";
// The table of cells.

const ROWS = 100;

const table = {
  shown: new Set(D.main.filter(i => !D.metrics[i].spans || varies(i)).slice(0, 7).map(i => D.metrics[i].name)),
  key: null, descending: false, rows: ROWS,
};

function varies(metric) {
  const seen = new Set();
  D.cells.forEach(cell => { const f = figure(cell, metric); if (f) seen.add(f.center); });
  return seen.size > 1;
}

// The columns: each has a head, a value to sort by, and a way to fill a cell.
function tableColumns() {
  const columns = D.columns.map((c, i) => ({
    id: c.name, head: title(c), numeric: c.numeric,
    sort: cell => c.numeric ? number(cell, i) : value(cell, i), text: cell => value(cell, i),
  }));
  columns.push({ id: "trials", head: "trials", numeric: false, sort: cell => cell.s[0],
    text: cell => D.statuses.map((s, i) => cell.s[i] ? `${cell.s[i]} ${s}` : "").filter(Boolean).join(", "), notes: true });
  D.metrics.forEach((m, i) => {
    if (!table.shown.has(m.name)) return;
    columns.push({ id: m.name, head: m.title, numeric: true, doc: `${m.name}: ${m.doc} (${m.unit})`,
      sort: cell => { const f = figure(cell, i); return f ? f.center : null; }, figure: i });
  });
  return columns;
}

function figureText(f, m) {
  if (!f) return ["n/a", ""];
  const middle = f.center === null ? (m.bound ? "beyond" : D.beyond) : digits(f.center) + f.mark;
  if (f.low === null && f.high === null) return [middle, " [n/a]" + seenText(f, m)];
  const end = v => v === null ? "..." : digits(v);
  return [middle, ` [${end(f.low)}, ${end(f.high)}]${seenText(f, m)}`];
}

// In how many trials a pooled figure is not what it is where nothing happened, unless it is in all.
function seenText(f, m) {
  if (f.seen === null || f.seen === f.n) return "";
  const percent = v => {
    const whole = Math.round(100 * v);
    return digits(whole > 0 && whole < 100 || v === 0 || v === 1 ? whole : 100 * v) + " %";
  };
  const below = m.calm ? ` below ${digits(m.calm)}` : "";
  return `${below} in ${percent(f.seen / f.n)} [${percent(f.seenLow)}, ${percent(f.seenHigh)}]`;
}

// The n of a figure, where it is not the number of trials with status ok of its row.
function ownN(f, cell) {
  if (!f || f.censored === 0 && f.n === cell.s[D.statuses.indexOf("ok")]) return "";
  return f.censored ? ` n=${f.n}+${f.censored}` : ` n=${f.n}`;
}

function drawTable(cells) {
  const columns = tableColumns();
  const key = columns.find(c => c.id === table.key);
  if (key) {
    const sign = table.descending ? -1 : 1;
    // What has no value comes last in either direction.
    cells = cells.map((cell, i) => [key.sort(cell), i, cell]).sort((a, b) => {
      if (a[0] === null || b[0] === null) return (a[0] === null) - (b[0] === null) || a[1] - b[1];
      return sign * (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) || a[1] - b[1];
    }).map(entry => entry[2]);
  }
  const host = document.getElementById("table");
  if (cells.length === 0) host.replaceChildren(make("p", { class: "empty" }, "No cell passes the filters."));
  else {
    // What is too wide for paper goes on in further tables, behind the same first columns.
    const design = columns.filter(c => c.figure === undefined), figures = columns.slice(design.length);
    for (let count = Math.max(1, figures.length), wide = 0; count > 0; count = Math.min(count - 1, Math.floor(count * host.clientWidth / wide) || 1)) {
      const parts = [];
      for (let i = 0; i === 0 || i < figures.length; i += count) parts.push([...design, ...figures.slice(i, i + count)]);
      host.replaceChildren(...parts.map(part => tableOfCells(cells.slice(0, table.rows), part, key)));
      wide = Math.max(...[...host.children].map(t => t.offsetWidth));
      if (!printing || wide <= host.clientWidth) break;
    }
  }
  const more = document.getElementById("table-more");
  more.replaceChildren();
  if (cells.length > table.rows) {
    more.append(`The first ${table.rows} of ${cells.length} rows. `, make("button", { type: "button",
      onclick: () => { table.rows = Infinity; remember(); drawTable(visible()); } }, "Show all"));
  }
}

function tableOfCells(cells, columns, key) {
  const head = columns.map(c => make("th", { scope: "col", title: c.doc, class: c.id === "label" ? "label" : null,
    "aria-sort": key === c ? (table.descending ? "descending" : "ascending") : "none" },
  printing ? c.head : make("button", { type: "button", "data-sort": c.id, onclick: () => {
    table.descending = table.key === c.id && !table.descending;
    table.key = c.id;
    remember();
    drawTable(visible());
    document.querySelector(`[data-sort="${CSS.escape(c.id)}"]`).focus();
  } }, c.head)));
  return make("table", {}, make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...cells.map(cell => tableRow(cell, columns))));
}

function tableRow(cell, columns) {
  return make("tr", {}, ...columns.map((c, i) => {
    const tag = i === LABEL ? "th" : "td";
    const attributes = { class: i === LABEL ? "label" : c.numeric ? "num" : null, scope: i === LABEL ? "row" : null };
    if (c.figure === undefined) {
      const e = make(tag, attributes, c.text(cell));
      if (c.notes) {
        (cell.w || []).forEach((note, k) => e.append(k ? " " : "\u00a0", make("sup", {},
          make("a", { href: `#note-${note + 1}`, "aria-label": `note ${note + 1}` }, String(note + 1)))));
      }
      return e;
    }
    const f = figure(cell, c.figure);
    const [middle, interval] = figureText(f, D.metrics[c.figure]);
    return make(tag, attributes, middle, make("span", { class: "ci" },
      ...[interval, ownN(f, cell)].filter(Boolean).flatMap(text => [" ", make("span", {}, text.trim())])));
  }));
}

// The rows of the download: one for each metric of each cell shown, as in summary.csv.
function cellRows(cells) {
  const parts = ["n", "censored", "mean", "sd", "min", "median", "p90", "p95", "p99", "max", "low", "high"];
  const clocks = D.cells.some(cell => cell.u); // as summary.csv of trials over several hosts has it
  const same = D.same.filter((_, i) => i % 2 === 0);
  const rows = [[...D.columns.map(c => c.name), ...same, "cell", "in_model", ...D.statuses, "metric",
    ...parts.slice(0, 10), "ci_low", "ci_high", ...(clocks ? ["clock_doubt_ms"] : [])]];
  for (const cell of cells) {
    const design = [...D.columns.map((c, i) => value(cell, i)), ...D.same.filter((_, i) => i % 2 === 1),
      cell.c, cell.i, ...cell.s];
    D.metrics.forEach((m, i) => {
      const f = figure(cell, i);
      if (f) rows.push([...design, m.name, ...parts.map(p => f[p]), ...(clocks ? [f.mark ? cell.u : ""] : [])]);
    });
  }
  return rows;
}

function buildTable() {
  const boxes = make("div", { class: "choices" }, ...D.metrics.map(m =>
    checkbox(m.title, table.shown.has(m.name), on => {
      table.shown[on ? "add" : "delete"](m.name);
      remember();
      drawTable(visible());
    })));
  keep("columns", () => D.metrics.map(m => m.name).filter(name => table.shown.has(name)), names => {
    table.shown = new Set(names);
    boxes.querySelectorAll("input").forEach((box, i) => { box.checked = table.shown.has(D.metrics[i].name); });
  });
  keep("sort", () => (table.descending ? "-" : "") + (table.key || ""), ([text]) => {
    table.descending = text.startsWith("-");
    table.key = text.replace(/^-/, "") || null;
    return !table.key || tableColumns().some(c => c.id === table.key);
  });
  keep("rows", () => table.rows === ROWS ? "" : "all", ([text]) => { table.rows = text === "all" ? Infinity : ROWS; });
  document.getElementById("table-tools").append(
    make("button", { type: "button", id: "save-cells",
      onclick: () => save("cells.csv", "text/csv", [toCSV(cellRows(visible()))]) }, "Save these cells (CSV)"),
    make("details", {}, make("summary", {}, "Choose metrics"), boxes));
  listeners.push(drawTable);
}
