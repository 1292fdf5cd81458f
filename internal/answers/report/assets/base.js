"use strict";
// The data, what is shown of it, and small things that the other scripts share.
const D = JSON.parse(document.getElementById("data").textContent);
const LABEL = D.columns.findIndex(c => c.name === "label");

// mark is what stands behind a value that the clocks of the cell's nodes can be wrong by more than.
const mark = (cell, metric, v) => metric && metric.clocks && cell.u && v !== null && Math.abs(v) < cell.u ? D.mark : "";
const MARKED = cell => `${D.mark}: smaller than what the clocks of the hosts can be wrong by (${show(cell.u)} ms)`;

// A figure's parts by name; see short in wire.go for what may be missing.
function figure(cell, metric) {
  const f = cell.f[metric];
  if (!f || f.length === 0) return null;
  const [n, censored, center] = f;
  const behind = mark(cell, D.metrics[metric], center);
  if (f.length === 3) {
    const certain = n >= 6 ? center : null;
    return { n, censored, center, low: certain, high: certain, p90: center, p95: center, p99: center,
      min: center, max: center, mean: center, median: center, sd: n > 1 ? 0 : null, seen: null, mark: behind };
  }
  const names = ["n", "censored", "center", "low", "high", "p90", "p95", "p99", "min", "max", "mean", "sd",
    "median", "seen", "seenLow", "seenHigh"];
  const out = { mark: behind };
  names.forEach((name, i) => { out[name] = i < f.length ? f[i] : null; });
  if (!D.metrics[metric].pooled) out.median = center;
  return out;
}

const value = (cell, column) => D.columns[column].values[cell.d[column]];
const number = (cell, column) => Number(value(cell, column));
const title = column => column.title;

// digits is a figure as the tables of the command have it, digit by digit: a half goes to the even one.
function digits(v) {
  const a = Math.abs(v);
  if (a >= 1e15) return v.toPrecision(4).replace(/\.?0*e/, "e");
  const decimals = [10, 100, 1000].filter(limit => a < limit).length, unit = 10 ** decimals;
  const half = Number.isInteger(v * 16) && Math.abs(a * unit % 1 - 0.5) < 1e-9;
  return String((half ? 2 * Math.round(v * unit / 2) / unit : Number(v.toFixed(decimals))) || 0);
}

// show is any number for people: what is very small or large has its power of ten.
function show(v) {
  if (v === null || v === undefined || Number.isNaN(v)) return "";
  const a = Math.abs(v);
  if (a >= 1e7 || a > 0 && a < 1e-4) return v.toExponential(2);
  const text = digits(v);
  return text === "0" ? String(Number(v.toPrecision(2))) : text;
}

// The address holds what the reader chose, each choice by its name, unless it is as at first: so it
// outlives the page, can be sent, and the button back takes it back. A choice is a list of texts.
const choices = new Map();
let section = "", typed = "", arriving = false;

function keep(name, get, set) {
  const read = () => [get()].flat().map(String);
  choices.set(name, { get: read, set, first: read() });
}

function address() {
  const q = new URLSearchParams();
  choices.forEach(({ get, first }, name) => {
    const now = get();
    if (JSON.stringify(now) !== JSON.stringify(first)) (now.length ? now : [""]).forEach(v => q.append(name, v));
  });
  if (section) q.set("at", section);
  return "#" + q;
}

// What is being typed is one step back, however many letters it has.
function remember(typing = "") {
  const hash = address();
  if (hash === (location.hash || "#")) return;
  const how = typing && typing === typed ? "replaceState" : "pushState";
  typed = typing;
  try { history[how](null, "", hash); } catch (e) { /* too many in a second: the next one will do */ }
}

function restore() {
  const text = location.hash.slice(1), q = new URLSearchParams(/=/.test(text) ? text : { at: text });
  choices.forEach(({ set, first }, name) => {
    if (!q.has(name) || set(q.getAll(name)) === false) set(first); // false: the address is that of another report
  });
  const before = section;
  section = q.get("at") || "";
  typed = "";
  if (section !== before) go();
}

// go shows the part of the page that the address names.
function go() {
  document.querySelectorAll(".target").forEach(e => e.classList.remove("target"));
  const part = section && document.getElementById(section);
  if (!part) return;
  part.classList.add("target");
  part.setAttribute("tabindex", "-1");
  part.focus({ preventScroll: true });
  part.scrollIntoView();
}

function buildAddress() {
  document.addEventListener("click", e => {
    const link = e.target.closest("a[href^='#']");
    if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    section = link.hash.slice(1);
    remember();
    go();
  });
  addEventListener("popstate", () => { restore(); redraw(); });
  restore();
  arriving = section !== ""; // once more, when the charts above have their heights
}

// Filters: what is left out, by column; and words, each of which a value of the cell must hold.
const hidden = D.columns.map(() => new Set());
let wanted = "";
const listeners = [];
let scheduled = false;

function visible() {
  return D.cells.filter(cell => hidden.every((set, i) => !set.has(cell.d[i])) &&
    wanted.split(/\s+/).every(word => D.columns.some((c, i) => value(cell, i).toLowerCase().includes(word))));
}

// Everything is drawn again when a filter changes, at most once in a frame.
function changed(typing) {
  remember(typing);
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => { scheduled = false; redraw(); });
}

function redraw() {
  const cells = visible();
  document.getElementById("shown").textContent = `${cells.length} of ${D.cells.length} ${D.cells.length === 1 ? "cell" : "cells"}`;
  listeners.forEach(draw => draw(cells));
  drawLater();
}

function buildFilters() {
  const bar = document.getElementById("filter-bar");
  const words = make("input", { type: "search", id: "filter-text", size: 12,
    oninput: e => { wanted = e.target.value.trim().toLowerCase(); changed("words"); } });
  bar.append(make("label", {}, "Words ", words));
  keep("words", () => wanted, ([text]) => { words.value = text; wanted = text.trim().toLowerCase(); });
  D.columns.forEach((column, i) => {
    if (column.values.length < 2) return;
    const boxes = column.values.map((v, k) => make("input", { type: "checkbox", checked: true, "data-column": column.name,
      "data-value": v, onchange: e => { hidden[i][e.target.checked ? "delete" : "add"](k); changed(); } }));
    keep("not." + column.name, () => [...hidden[i]].sort((a, b) => a - b).map(k => column.values[k]), values => {
      hidden[i] = new Set(values.map(v => column.values.indexOf(v)).filter(k => k >= 0));
      boxes.forEach((box, k) => { box.checked = !hidden[i].has(k); });
    });
    const list = make("div", { class: "choices" });
    boxes.forEach((box, k) => list.append(make("label", {}, box, " " + (column.values[k] || "none"))));
    if (boxes.length > 3) {
      const all = on => () => {
        boxes.forEach((box, k) => { box.checked = on; hidden[i][on ? "delete" : "add"](k); });
        changed();
      };
      list.append(make("button", { type: "button", class: "quiet", onclick: all(true) }, "all"),
        make("button", { type: "button", class: "quiet", onclick: all(false) }, "none"));
    }
    bar.append(make("fieldset", {}, make("legend", {}, title(column)), list));
  });
}

// A select with options [value, text].
function select(label, options, chosen, onchange) {
  const s = make("select", { onchange: e => onchange(e.target.value) },
    ...options.map(([v, text]) => make("option", { value: v, selected: String(v) === String(chosen) }, text)));
  return make("label", {}, label + " ", s);
}

function checkbox(label, on, onchange) {
  return make("label", {}, make("input", { type: "checkbox", checked: on, onchange: e => onchange(e.target.checked) }),
    " " + label);
}

// CSV: numbers as they are; a text that a spreadsheet would take for a formula gets a quote.
function csvField(v) {
  if (v === null || v === undefined) return "";
  if (typeof v === "number") return String(v);
  let text = String(v);
  if (/^[=+\-@\t\r\n]/.test(text) && !Number.isFinite(Number(text))) text = "'" + text;
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

function toCSV(rows) { return rows.map(row => row.map(csvField).join(",")).join("\n") + "\n"; }

function save(name, type, parts) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  const a = make("a", { href: url, download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function buildDownloads() {
  document.querySelectorAll("button.packed").forEach(button => {
    button.addEventListener("click", async () => {
      save(button.dataset.file, "text/csv", [await unpack(button.dataset.packed)]);
    });
  });
}

// A trial to step through is a page of its own, packed in this one.
function buildPlayers() {
  document.querySelectorAll("button.player").forEach(button => {
    button.addEventListener("click", async () => {
      const text = await unpack(button.dataset.packed);
      open(URL.createObjectURL(new Blob([text], { type: "text/html" })), "_blank");
    });
  });
}

// Paper has no scrolling and nothing to press: all is laid out for its width, and told, and always light.
let printing = false;
const isDark = () => !printing && Theme.dark();

function buildPaper() {
  Theme.changed(redraw);
  let closed = [];
  const paper = on => () => {
    printing = on;
    document.documentElement.toggleAttribute("data-paper", on);
    if (on) closed = [...document.querySelectorAll("details.fold:not([open])")];
    closed.forEach(details => { details.open = on; });
    redraw();
    drawAll();
    resizeCharts();
  };
  addEventListener("beforeprint", paper(true));
  addEventListener("afterprint", paper(false));
}
