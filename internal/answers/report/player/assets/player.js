"use strict";
// A trial to step through. What it shows follows from where it stands: the event k, the filter,
// the zoom. Everything is drawn from the columns of D; see package player for their meaning.
const $ = id => document.getElementById(id);
// A colour of the page's look. A canvas takes none that depends on the theme.
const css = name => colours[name] ||= getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim()
  .replace(/^light-dark\((.+), *(.+)\)$/, (all, light, dark) => Theme.dark() ? dark : light);
let colours = {};
let D, N, M; // the data, its number of events and of messages
let at, xs, x0 = 0, unit = 60, zoom = 1, even = false; // instants in ns; places in units; pixels of a unit
let latency = 1, holes = []; // of the middle message, ns; events before which time is cut short
let history_ = []; // by process and field: {events, words}
let shown = []; // events that the filter leaves
let matches = null; // by event: whether it does; null: all
let k = 0;
let cones = null; // past and future of k: the last and the first event of each process
let jumps = [];
let timer = 0;
const NAMES = ["process", "names leader", "critical section"]; // the fields of the trial
const GUTTER = 46, TOP = 24, AXIS = 24;

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

const process = i => D.events.process[i];
const type = i => D.types[D.events.type[i]];
const own = i => process(i) > 0 && type(i).own;
const text = i => D.words[D.events.text[i]];
function holds(i) { // what the message holds, or what is saved
  const word = D.events.holds[i], m = D.events.message[i];
  return word < 0 ? "" : (m < 0 ? "" : D.kinds[D.messages.kind[m]]) + D.words[word];
}
const watched = i => { const m = D.events.message[i]; return m >= 0 && D.messages.watch[m] === 1; };

// time is ns in words: three digits behind the point of the unit.
function time(ns) {
  const a = Math.abs(ns);
  const [size, name] = a >= 1e9 || a === 0 ? [1e9, "s"] : a >= 1e6 ? [1e6, "ms"] : a >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return String(Math.round(ns / size * 1e3) / 1e3) + name;
}

// States.

// value is the word of a field of a process at event i; -1: none.
function value(p, field, i) {
  const h = history_[p * D.fields.length + field];
  if (!h) return -1;
  let low = 0, high = h.events.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (h.events[mid] <= i) low = mid + 1; else high = mid;
  }
  return low === 0 ? -1 : h.words[low - 1];
}

function readStates() {
  const F = D.fields.length;
  const put = (p, field, event, word) => {
    const h = history_[p * F + field] || (history_[p * F + field] = { events: [], words: [] });
    h.events.push(event);
    h.words.push(word);
  };
  const initial = D.initial || [], changes = D.changes || [];
  for (let i = 0; i < initial.length; i += 3) put(initial[i], initial[i + 1], -1, initial[i + 2]);
  D.changedAt = new Map(); // event → [field, word, ...]
  for (let i = 0; i < changes.length; i += 3) {
    put(process(changes[i]), changes[i + 1], changes[i], changes[i + 2]);
    if (!D.changedAt.has(changes[i])) D.changedAt.set(changes[i], []);
    D.changedAt.get(changes[i]).push(changes[i + 1], changes[i + 2]);
  }
}

// spells calls f with each stretch of events in which a field of p has a value.
function spells(p, field, f) {
  const h = history_[p * D.fields.length + field];
  if (!h) return;
  for (let i = 0; i < h.events.length; i++) {
    const word = D.words[h.words[i]];
    if (word !== "") f(word, Math.max(h.events[i], 0), i + 1 < h.events.length ? h.events[i + 1] : N - 1);
  }
}

// Places.

function layOut() {
  xs = new Float64Array(N);
  holes = [];
  for (let i = 1; i < N; i++) {
    let gap = even ? 0.3 : (at[i] - at[i - 1]) / latency;
    if (gap > 3.2) { gap = 0.8; holes.push(i); }
    xs[i] = xs[i - 1] + gap;
  }
  if (!even && N > 1 && xs[N - 1] === 0) { even = true; $("even").checked = true; layOut(); }
}

// place is where an instant stands, in units.
function place(t) {
  let low = 0, high = N;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (at[mid] < t) low = mid + 1; else high = mid;
  }
  if (low === 0) return xs[0];
  if (low === N) return xs[N - 1] + Math.min((t - at[N - 1]) / latency, 1);
  if (at[low] === t) return xs[low];
  return xs[low - 1] + (xs[low] - xs[low - 1]) * (t - at[low - 1]) / (at[low] - at[low - 1]);
}

const X = u => GUTTER + 14 + u * unit * zoom - $("scroller").scrollLeft;
const mostZoom = () => Math.min(40, 6e6 / unit / (xs[N - 1] + 1));
let lane = 40;
const Y = p => TOP + (p - 0.4) * lane - $("scroller").scrollTop;

function readMessages() {
  const m = D.messages;
  M = m.from.length;
  const took = [];
  for (let i = 0; i < M; i++) if (m.fate[i] === 1 && m.watch[i] === 0 && m.ended[i] > m.sent[i]) took.push(m.ended[i] - m.sent[i]);
  took.sort((a, b) => a - b);
  latency = took.length ? took[took.length >> 1] : Math.max(1, (at[N - 1] - at[0]) / Math.min(N, 40));
  D.ends = new Map(); // event that sends → messages
  for (let i = 0; i < M; i++) {
    const o = m.origin[i];
    if (o < 0) continue;
    if (!D.ends.has(o)) D.ends.set(o, []);
    D.ends.get(o).push(i);
  }
}

function placeMessages() {
  D.from = new Float64Array(M);
  D.to = new Float64Array(M);
  const m = D.messages;
  for (let i = 0; i < M; i++) {
    D.from[i] = m.send[i] >= 0 ? xs[m.send[i]] : even ? xs[0] - 0.5 : Math.min(place(m.sent[i]), xs[m.end[i]]);
    D.to[i] = m.end[i] >= 0 ? xs[m.end[i]] : even ? xs[N - 1] + 0.5 : Math.max(place(m.ended[i]), D.from[i]);
  }
}

// Causes.

// cone finds the past and the future of event i: of each process the last event that could have
// led to it, and the first that it could have led to.
function cone(i) {
  const past = new Int32Array(D.nodes + 1).fill(-1), future = new Int32Array(D.nodes + 1).fill(N);
  const m = D.messages;
  let start = i;
  if (!own(i)) { // an end that nobody saw: its past is that of the sending
    const message = D.events.message[i];
    start = message >= 0 ? m.origin[message] : -1;
  }
  if (start < 0) return { past, future };
  let todo = [start];
  while (todo.length) {
    const e = todo.pop(), p = process(e), before = past[p];
    if (e <= before) continue;
    past[p] = e;
    for (const d of D.received[p]) {
      if (d <= before) continue;
      if (d > e) break;
      const o = m.origin[D.events.message[d]];
      if (o >= 0) todo.push(o);
    }
  }
  if (!own(i)) return { past, future };
  todo = [i];
  while (todo.length) {
    const e = todo.pop(), p = process(e), before = future[p];
    if (e >= before) continue;
    future[p] = e;
    for (const s of D.sent[p]) {
      if (s < e) continue;
      if (s >= before) break;
      for (const message of D.ends.get(s) || []) {
        if (m.fate[message] === 1 && m.end[message] >= 0) todo.push(m.end[message]);
      }
    }
  }
  return { past, future };
}

function readCauses() {
  D.received = [];
  D.sent = [];
  D.mine = [];
  for (let p = 0; p <= D.nodes; p++) { D.received.push([]); D.sent.push([]); D.mine.push([]); }
  for (let i = 0; i < N; i++) {
    if (!own(i)) continue;
    D.mine[process(i)].push(i);
    const message = D.events.message[i];
    if (message < 0) continue;
    if (D.messages.end[message] === i) D.received[process(i)].push(i);
    else if (D.messages.send[message] === i) D.sent[process(i)].push(i);
  }
}

const inPast = i => own(i) && i <= cones.past[process(i)];
const inFuture = i => own(i) && i >= cones.future[process(i)];

// lit says whether a message belongs to the past or to the future of the event.
function lit(i) {
  const m = D.messages, o = m.origin[i], e = m.end[i];
  if (m.send[i] === k || e === k || o === k) return true;
  if (e >= 0 && m.fate[i] === 1) return inPast(e) || (o >= 0 && inFuture(o));
  return o >= 0 && (inPast(o) || inFuture(o));
}

// Drawing.

let scheduled = false;
function redraw() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => { scheduled = false; draw(); });
}

function resize() {
  const box = $("scroller"), canvas = $("view");
  const most = Math.max(220, innerHeight * 0.56);
  lane = Math.min(64, Math.max(15, (most - TOP - AXIS) / D.nodes));
  const high = Math.round(TOP + AXIS + lane * D.nodes), ratio = devicePixelRatio || 1;
  fit();
  spread(high);
  box.style.overflowY = high > most ? "auto" : "hidden";
  box.style.height = Math.min(high, most) + box.offsetHeight - box.clientHeight + "px";
  const width = box.clientWidth;
  canvas.style.width = width + "px";
  canvas.style.height = box.clientHeight + "px";
  canvas.width = width * ratio;
  canvas.height = box.clientHeight * ratio;
  spread(high);
  const map = $("map");
  map.width = map.clientWidth * ratio;
  map.height = map.clientHeight * ratio;
  drawMap();
  redraw();
}

// fit finds how wide a unit is: a short trial fills the width.
function fit() {
  unit = Math.max(60, Math.min(130, ($("scroller").clientWidth - GUTTER - 40) / (xs[N - 1] + 1)));
}

// spread makes room for the whole diagram, of which the canvas shows a part.
function spread(high) {
  const wide = GUTTER + 14 + (xs[N - 1] + 1.2) * unit * zoom;
  $("room").style.width = wide + "px";
  $("room").style.height = Math.max(0, (high || TOP + AXIS + lane * D.nodes) - $("scroller").clientHeight) + "px";
}

const kindColour = kind => css("k" + kind % 8);
const dashes = [[], [7, 3], [2, 2.5], [9, 3, 2, 3], [4, 2]];

function draw() {
  const canvas = $("view"), c = canvas.getContext("2d"), ratio = devicePixelRatio || 1;
  const width = canvas.width / ratio, height = canvas.height / ratio, bottom = height - AXIS;
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.fillStyle = css("page");
  c.fillRect(0, 0, width, height);
  c.font = "10px system-ui, sans-serif";
  c.lineCap = "butt";
  const on = $("cones").checked;
  const rows = [];
  for (let p = 1; p <= D.nodes; p++) if (Y(p) > -lane && Y(p) < bottom + lane) rows.push(p);
  drawBands(c, rows, width, bottom);
  ticks(c, width, bottom);
  c.save();
  c.beginPath();
  c.rect(0, 0, width, bottom);
  c.clip();
  if (on) drawCones(c, rows, width);
  for (const p of rows) drawLane(c, p, width);
  drawNetwork(c, width, bottom);
  drawMessages(c, width, bottom, on);
  drawMarks(c, width, bottom, on);
  drawHere(c, bottom);
  c.restore();
  c.fillStyle = css("page");
  c.globalAlpha = 0.94;
  c.fillRect(0, 0, GUTTER, height);
  c.globalAlpha = 1;
  c.textAlign = "right";
  c.textBaseline = "middle";
  for (const p of rows) {
    if (Y(p) > bottom) continue;
    c.fillStyle = css("ink");
    c.font = (process(k) === p ? "700" : "500") + " 12px system-ui, sans-serif";
    c.fillText("p" + p, GUTTER - 8, Y(p));
  }
}

// APART is how far apart ticks are at least, in pixels.
const APART = 78;

// roundSpan is 1, 2 or 5 times a power of ten: the shortest that is not shorter than ns, or else the longest that is
// not longer.
function roundSpan(ns, longer) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, ns)));
  const all = [1, 2, 5, 10].map(k => k * power);
  return longer ? all.find(v => v >= ns * (1 - 1e-9)) : all.findLast(v => v <= ns * (1 + 1e-9));
}

// instants are where ticks stand between two places on the screen: {x, t}. Their times are round; where steps are even,
// those of events.
function instants(from, to) {
  const out = [], low = Math.max(0, lowest(from) - 1), cut = new Set(holes);
  const put = (t, x) => {
    if (x >= from && x <= to && (!out.length || x - out[out.length - 1].x >= APART)) out.push({ x, t });
  };
  if (even) {
    for (let i = low; i < N && X(xs[i]) <= to; i++) put(at[i], X(xs[i]));
    return out;
  }
  const usual = roundSpan(APART * latency / (unit * zoom), true);
  if (low === 0 && at[0] % usual === 0) put(at[0], X(xs[0]));
  for (let i = low + 1; i < N && X(xs[i - 1]) <= to; i++) {
    const a = at[i - 1], b = at[i];
    if (a === b) continue;
    if (cut.has(i)) { // time is cut short: one tick says what it is by the end
      const t = Math.floor(b / roundSpan(b - a, false)) * roundSpan(b - a, false);
      if (t > a) put(t, X(place(t)));
      continue;
    }
    for (let t = (Math.floor(a / usual) + 1) * usual; t <= b; t += usual) put(t, X(place(t)));
  }
  return out;
}

function ticks(c, width, bottom) {
  c.strokeStyle = css("grid");
  c.fillStyle = css("soft");
  c.textAlign = "center";
  c.textBaseline = "top";
  c.beginPath();
  for (const { x, t } of instants(GUTTER + 14, width + 40)) {
    c.moveTo(x, TOP - 8);
    c.lineTo(x, bottom);
    c.fillText(time(t), x, bottom + 6);
  }
  c.stroke();
}

// drawBands shades the time of a partition, each side in a colour of its own, with a line between sides that are next
// to each other; or that of flaky links.
function drawBands(c, rows, width, bottom) {
  for (const band of D.bands) {
    const a = Math.max(GUTTER, X(place(band.from))), b = Math.min(width, X(place(band.to)));
    if (b <= GUTTER || a >= width || b <= a) continue;
    for (const p of rows) {
      const side = band.sides.length ? band.sides[p - 1] : -2, top = Y(p) - lane / 2;
      if (top > bottom) break;
      c.fillStyle = css(side === -2 ? "band" : "g" + (side + 4) % 4);
      c.fillRect(a, top, b - a, Math.min(lane, bottom - top));
      if (p > 1 && band.sides.length && band.sides[p - 2] !== side) stroke(c, css("hot"), 1.2, [6, 3], top, a, b);
    }
    c.fillStyle = css("ink");
    c.textAlign = "left";
    c.textBaseline = "top";
    const most = Math.max(4, Math.floor((b - a) / 6.5));
    c.fillText(band.text.length > most ? band.text.slice(0, most - 1) + "…" : band.text, a + 4, 4);
  }
}

// lowest is the first event that stands right of x.
function lowest(x) {
  let low = 0, high = N;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (X(xs[mid]) < x) low = mid + 1; else high = mid;
  }
  return low;
}

function stroke(c, colour, width, dash, y, from, to) {
  c.strokeStyle = colour;
  c.lineWidth = width;
  c.setLineDash(dash);
  c.beginPath();
  c.moveTo(from, y);
  c.lineTo(to, y);
  c.stroke();
  c.setLineDash([]);
}

// drawCones shades the past and the future of the event.
function drawCones(c, rows, width) {
  c.globalAlpha = 0.16;
  for (const p of rows) {
    const top = Y(p) - lane / 2, past = cones.past[p], future = cones.future[p];
    const fill = (colour, a, b) => { c.fillStyle = css(colour); c.fillRect(a, top, Math.max(0, b - a), lane); };
    if (past >= 0) fill("past", Math.max(GUTTER, X(xs[0])), Math.min(width, X(xs[past])));
    if (future < N) fill("future", Math.max(GUTTER, X(xs[future])), Math.min(width, X(xs[N - 1] + 1)));
  }
  c.globalAlpha = 1;
}

function drawLane(c, p, width) {
  const y = Y(p);
  const clamp = x => Math.min(Math.max(x, -20), width + 20);
  const reach = (from, to, f) => {
    const a = clamp(X(xs[from])), b = clamp(to === N - 1 ? X(xs[to] + 1) : X(xs[to]));
    if (b > -20 && a < width + 20) f(a, Math.max(b, a + 2));
  };
  spells(p, 0, (word, from, to) => reach(from, to, (a, b) => {
    if (word === "down") stroke(c, css("life"), 1.1, [1, 5], y, a, b);
    else {
      stroke(c, css("life"), 1.3, [], y, a, b);
      if (word !== "up") stroke(c, css("hot"), 9, [2, 4], y, a, b);
    }
  }));
  spells(p, 1, (word, from, to) => {
    const leader = /^p(\d+)/.exec(word);
    if (!leader) return;
    reach(from, to, (a, b) => {
      const high = lane >= 40 ? 12 : lane >= 24 ? 5 : 3, top = y - high - (lane >= 40 ? 7 : 3);
      c.fillStyle = css("l" + leader[1] % 6);
      c.fillRect(a, top, b - a, high);
      if (Number(leader[1]) === p) {
        c.strokeStyle = css("ink");
        c.lineWidth = 1.2;
        c.strokeRect(a, top, b - a, high);
      }
      const left = Math.max(a, GUTTER) + 4, says = Number(leader[1]) === p ? word.replace(/^p\d+/, "leads") : word;
      if (high === 12 && c.measureText(says).width + 6 < b - left) {
        c.fillStyle = css("ink");
        c.textAlign = "left";
        c.textBaseline = "middle";
        c.fillText(says, left, top + 6.5);
      }
    });
  });
  spells(p, 2, (word, from, to) => reach(from, to, (a, b) => {
    if (word.startsWith("inside")) {
      c.fillStyle = css("cs");
      const high = Math.min(11, lane / 2);
      c.fillRect(a, y - high / 2, b - a, high);
    } else stroke(c, css("wait"), 4, [2, 2], y, a, b);
  }));
  if (!even) {
    c.fillStyle = css("page");
    for (const i of holes) {
      const x = (X(xs[i - 1]) + X(xs[i])) / 2;
      if (x > 0 && x < width) c.fillRect(x - 2.5, y - 5, 5, 10);
    }
  }
}

function drawNetwork(c, width, bottom) {
  c.textAlign = "left";
  c.textBaseline = "top";
  let last = -1e9;
  for (const i of D.global) {
    const x = X(xs[i]);
    if (x < 0 || x > width) continue;
    c.strokeStyle = css("hot");
    c.lineWidth = 1;
    c.setLineDash([3, 3]);
    c.beginPath();
    c.moveTo(x, 4);
    c.lineTo(x, bottom);
    c.stroke();
    c.setLineDash([]);
    if (x - last < 40 || ["cut", "flaky"].includes(type(i).name) && text(i) !== "") continue; // the band says it
    const says = text(i);
    c.fillStyle = css("soft");
    c.fillText(says.length > 46 ? says.slice(0, 45) + "…" : says, x + 3, 4);
    last = x + Math.min(200, c.measureText(says).width);
  }
}

function drawMessages(c, width, bottom, on) {
  const m = D.messages, watching = $("detector").checked, named = unit * zoom > 70 && lane > 24;
  for (let i = 0; i < M; i++) {
    if (m.watch[i] === 1 && !watching && m.send[i] !== k && m.end[i] !== k) continue;
    const a = X(D.from[i]), b = X(D.to[i]);
    if (b < 0 || a > width) continue;
    const ya = Y(m.from[i]), yb = Y(m.to[i]);
    if (Math.max(ya, yb) < 0 || Math.min(ya, yb) > bottom) continue;
    const here = m.send[i] === k || m.end[i] === k;
    let alpha = m.fate[i] === 0 ? 0.5 : 1;
    if (on && !lit(i)) alpha = 0.16;
    if (matches && !here && !(m.send[i] >= 0 && matches[m.send[i]]) && !(m.end[i] >= 0 && matches[m.end[i]])) alpha = 0.08;
    c.globalAlpha = alpha;
    c.strokeStyle = c.fillStyle = kindColour(m.kind[i]);
    c.lineWidth = here ? 3 : 1.4;
    c.setLineDash(dashes[m.kind[i] % dashes.length]);
    const share = m.fate[i] === 2 ? 0.6 : 1;
    const ex = a + (b - a) * share, ey = ya + (yb - ya) * share;
    c.beginPath();
    c.moveTo(a, ya);
    c.lineTo(ex, ey);
    c.stroke();
    c.setLineDash([]);
    const length = Math.hypot(b - a, yb - ya) || 1, ux = (b - a) / length, uy = (yb - ya) / length;
    if (m.fate[i] === 2) {
      c.strokeStyle = css("bad");
      c.lineWidth = 2;
      c.beginPath();
      c.moveTo(ex - 4, ey - 4); c.lineTo(ex + 4, ey + 4);
      c.moveTo(ex + 4, ey - 4); c.lineTo(ex - 4, ey + 4);
      c.stroke();
    } else if (m.fate[i] === 3) {
      c.beginPath();
      c.arc(b, yb, 3.4, 0, 7);
      c.stroke();
    } else if (m.fate[i] === 1 && (unit * zoom > 8 || here)) {
      const size = here ? 11 : 8;
      c.beginPath();
      c.moveTo(b, yb);
      c.lineTo(b - ux * size - uy * size * 0.4, yb - uy * size + ux * size * 0.4);
      c.lineTo(b - ux * size + uy * size * 0.4, yb - uy * size - ux * size * 0.4);
      c.fill();
    }
    if (named && alpha > 0.3 && length > 90 && (here || !on || zoom > 1.5)) {
      c.save();
      c.translate((a + b) / 2, (ya + yb) / 2);
      c.rotate(Math.atan2(uy, ux));
      c.textAlign = "center";
      c.textBaseline = "bottom";
      c.strokeStyle = css("page");
      c.lineWidth = 3;
      c.strokeText(D.kinds[m.kind[i]], 0, -2);
      c.fillText(D.kinds[m.kind[i]], 0, -2);
      c.restore();
    }
  }
  c.globalAlpha = 1;
}

// glyphs draw what happens to a process besides messages.
const glyphs = {
  crash: (c, x, y) => { c.strokeStyle = css("bad"); c.lineWidth = 2.4; c.beginPath();
    c.moveTo(x - 6, y - 6); c.lineTo(x + 6, y + 6); c.moveTo(x + 6, y - 6); c.lineTo(x - 6, y + 6); c.stroke(); },
  up: (c, x, y) => { c.fillStyle = css("page"); c.strokeStyle = css("ink"); c.lineWidth = 1.4; c.beginPath();
    c.arc(x, y, 4, 0, 7); c.fill(); c.stroke(); },
  elect: (c, x, y) => { c.fillStyle = css("ink"); c.beginPath(); c.arc(x, y, 4, 0, 7); c.fill(); },
  timeout: (c, x, y) => { c.fillStyle = css("soft"); c.beginPath();
    c.moveTo(x, y + 2); c.lineTo(x + 4, y + 9); c.lineTo(x - 4, y + 9); c.fill(); },
  suspect: (c, x, y) => { c.fillStyle = css("ink"); c.beginPath();
    c.moveTo(x, y + 2); c.lineTo(x + 4, y + 6); c.lineTo(x, y + 10); c.lineTo(x - 4, y + 6); c.fill(); },
};

function drawMarks(c, width, bottom, on) {
  if (unit * zoom < 2.5 && N > 4000) return;
  for (let i = lowest(-8); i < N; i++) {
    const x = X(xs[i]);
    if (x > width + 8) break;
    const glyph = glyphs[type(i).name];
    if (!glyph || type(i).name === "up" && D.first === 1 && D.mine[process(i)][0] === i) continue;
    const y = Y(process(i));
    if (y < -10 || y > bottom + 10) continue;
    c.globalAlpha = matches && !matches[i] && i !== k ? 0.15 : on && !inPast(i) && !inFuture(i) && i !== k ? 0.35 : 1;
    glyph(c, x, y);
  }
  c.globalAlpha = 1;
  c.strokeStyle = css("bad");
  c.lineWidth = 2;
  for (const i of D.broken.keys()) {
    const x = X(xs[i]);
    if (x < 0 || x > width || process(i) === 0) continue;
    c.strokeRect(x - 8, Y(process(i)) - 8, 16, 16);
  }
}

function drawHere(c, bottom) {
  const x = X(xs[k]);
  c.strokeStyle = css("focus");
  c.lineWidth = 1;
  c.beginPath();
  c.moveTo(x, TOP - 10);
  c.lineTo(x, bottom);
  c.stroke();
  if (process(k) === 0) return;
  c.lineWidth = 2.6;
  c.beginPath();
  c.arc(x, Y(process(k)), 9, 0, 7);
  c.stroke();
}

// drawMap draws what can be jumped to, above the slider.
function drawMap() {
  const canvas = $("map"), c = canvas.getContext("2d"), thumb = 8 * (devicePixelRatio || 1);
  c.clearRect(0, 0, canvas.width, canvas.height);
  const wide = canvas.width - 2 * thumb;
  for (const jump of [...jumps].reverse()) {
    c.fillStyle = css(jump.colour);
    c.globalAlpha = jump.key === "v" ? 1 : 0.75;
    for (const i of jump.events) {
      const x = thumb + wide * i / Math.max(1, N - 1);
      c.fillRect(x - 1, canvas.height * jump.top, jump.key === "v" ? 3 : 2, canvas.height * (1 - jump.top));
    }
  }
  c.globalAlpha = 1;
}

// What is shown of the event.

function tellNow() {
  const changes = D.changedAt.get(k) || [], p = process(k);
  const list = make("ul", {});
  for (let i = 0; i < changes.length; i += 2) {
    const before = k > 0 ? value(p, changes[i], k - 1) : initially(p, changes[i]);
    const field = D.fields[changes[i]];
    if (!field.own && i === 0 && type(k).name === "up" || same.has(changes[i])) continue;
    if ((brief(before) || "none") === (brief(changes[i + 1]) || "none")) continue; // a leader that was none already
    list.append(change(field.own ? field.name : NAMES[changes[i]], before, changes[i + 1]));
  }
  const now = $("now");
  now.setAttribute("aria-live", timer ? "off" : "polite");
  now.replaceChildren(
    make("div", { class: "what" }, make("span", { class: "number" }, `${D.first + k} · ${time(at[k])} · `), text(k)),
    holds(k) ? make("code", {}, holds(k)) : "",
    ...(D.broken.get(k) || []).map(word => make("div", { class: "breach" }, "Broken promise: " + D.words[word])),
    list);
}

const initially = (p, field) => value(p, field, -1);
const brief = word => { const s = word < 0 ? "" : D.words[word]; return s.length > 160 ? s.slice(0, 159) + "…" : s; };

function change(name, before, after) {
  const li = make("li", {}, name + " ");
  if (before >= 0 && D.words[before] !== "") li.append(make("del", {}, brief(before)), " → ");
  li.append(make("ins", {}, brief(after) || "none"));
  return li;
}

function tellList() {
  const room = Math.max(5, Math.floor(($("scroller").clientHeight || 300) / 24.2));
  const here = index(k), list = $("list");
  const from = Math.max(0, Math.min(here - (room >> 1), shown.length - room));
  const items = shown.slice(from, from + room).map(i => make("li", {},
    make("button", { type: "button", "data-event": i, "aria-current": i === k ? "step" : null, title: `${text(i)} ${holds(i)}`, tabindex: i === k ? 0 : -1 },
      make("span", { class: "at" }, time(at[i])), make("span", { class: "text" }, text(i)))));
  const focused = list.contains(document.activeElement);
  list.replaceChildren(...items);
  if (focused) (list.querySelector("[aria-current]") || list.querySelector("button")).focus();
}

let cells = [], used = [];
let same = new Map(); // fields of the algorithm that have one value in all processes throughout → word
function readSame() {
  D.fields.forEach((field, i) => {
    const words = new Set(history_.filter((h, at_) => h && at_ % D.fields.length === i).flatMap(h => h.words)
      .filter(w => D.words[w] !== ""));
    if (field.own && words.size === 1 && D.nodes > 1) same.set(i, [...words][0]);
  });
}

function buildStates() {
  readSame();
  if (same.size) {
    $("same").replaceChildren("Parameters, and whatever else is the same in all processes throughout: ",
      ...[...same].flatMap(([i, word], n) => [n ? ", " : "", make("code", {}, D.fields[i].name + " ", make("b", {}, brief(word)))]));
  }
  used = D.fields.map((f, i) => i).filter(i => i < 3 || history_.some((h, at_) => h && at_ % D.fields.length === i));
  used = used.filter(i => D.fields[i].own || history_.some((h, at_) => h && at_ % D.fields.length === i && h.words.some(w => D.words[w] !== "")));
  used = used.filter(i => !same.has(i));
  const head = make("tr", {}, make("th", { scope: "col", "aria-label": "name" }),
    ...used.map(i => make("th", { scope: "col", class: i < 3 ? "trial" : null }, i < 3 ? NAMES[i] : D.fields[i].name)));
  const body = make("tbody", {});
  for (let p = 1; p <= D.nodes; p++) {
    const row = used.map(i => make("td", { class: i < 3 ? "trial" : null }));
    body.append(make("tr", { "data-process": p }, make("th", { scope: "row" }, "p" + p), ...row));
    cells[p] = row.map(td => ({ td, word: -2, mark: false }));
  }
  $("states").append(make("table", {}, make("thead", {}, head), body));
}

let here = null;
function tellStates() {
  const changed = D.changedAt.get(k) || [];
  const marks = new Set();
  for (let i = 0; i < changed.length; i += 2) marks.add(changed[i]);
  for (let p = 1; p <= D.nodes; p++) {
    cells[p].forEach((cell, c) => {
      const word = value(p, used[c], k), mark = p === process(k) && marks.has(used[c]);
      if (word === cell.word && !mark && !cell.mark) return;
      cell.word = word;
      cell.mark = mark;
      const says = brief(word);
      cell.td.classList.toggle("new", mark);
      const before = mark ? value(p, used[c], k - 1) : -1;
      if (before >= 0 && D.words[before] !== "") cell.td.replaceChildren(make("del", {}, brief(before)), " ", make("ins", {}, says));
      else if (mark) cell.td.replaceChildren(make("ins", {}, says));
      else cell.td.textContent = says;
      cell.td.classList.toggle("long", says.length > 30);
      if (used[c] === 0) cell.td.parentElement.classList.toggle("down", says === "down");
    });
  }
  if (here) here.classList.remove("here");
  here = process(k) > 0 ? cells[process(k)][0].td.parentElement : null;
  if (!here) return;
  here.classList.add("here");
  const box = $("states"), top = here.offsetTop, head = box.querySelector("thead").offsetHeight;
  if (top - head < box.scrollTop) box.scrollTop = top - head;
  else if (top + here.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + here.offsetHeight - box.clientHeight;
}

// Where it stands.

// index is where event i is, or would be, among those that are shown.
function index(i) {
  let low = 0, high = shown.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (shown[mid] < i) low = mid + 1; else high = mid;
  }
  return low;
}

// near is the next of an ascending list behind i, or before it.
function near(list, i, by) {
  if (by > 0) return list.find(e => e > i);
  for (let n = list.length - 1; n >= 0; n--) if (list[n] < i) return list[n];
  return undefined;
}

function select(i, follow = true) {
  if (i === undefined || Number.isNaN(i)) return;
  k = Math.max(0, Math.min(N - 1, i));
  cones = cone(k);
  const slider = $("slider");
  slider.value = k;
  slider.setAttribute("aria-valuetext", `event ${D.first + k}, ${time(at[k])}: ${text(k)}`);
  $("view").setAttribute("aria-label", `${D.title}: space-time diagram around event ${D.first + k}: ${text(k)}`);
  if (follow) bring();
  tellNow();
  tellList();
  tellStates();
  $("first").disabled = $("back").disabled = shown.length === 0 || k <= shown[0];
  $("last").disabled = $("next").disabled = shown.length === 0 || k >= shown[shown.length - 1];
  for (const jump of jumps) {
    jump.back.disabled = near(jump.events, k, -1) === undefined;
    jump.next.disabled = near(jump.events, k, 1) === undefined;
  }
  remember();
  redraw();
}

// bring scrolls so that the event can be seen.
function bring() {
  const box = $("scroller"), width = box.clientWidth, x = X(xs[k]);
  if (x < GUTTER + 60 || x > width - 90) box.scrollLeft += x - width * 0.45;
  if (process(k) === 0) return;
  const y = Y(process(k));
  if (y < TOP + 10 || y > box.clientHeight - AXIS - 14) box.scrollTop += y - box.clientHeight / 2;
}

function step(by) {
  const n = index(k);
  select(by > 0 ? shown[shown[n] === k ? n + 1 : n] : shown[n - 1]);
}

function stop() {
  clearInterval(timer);
  timer = 0;
  $("play").textContent = "Play";
  $("play").setAttribute("aria-label", "Play");
}

function play() {
  if (timer) { stop(); tellNow(); return; }
  if (shown.length && k >= shown[shown.length - 1]) select(shown[0]);
  $("play").textContent = "Stop";
  $("play").setAttribute("aria-label", "Stop");
  timer = setInterval(() => {
    if (!shown.length || k >= shown[shown.length - 1]) stop(); else step(1);
  }, 1000 / Number($("speed").value));
}

// The filter: each of its words stands in the event's text. A process is a whole word.
function applyFilter() {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(w => w);
  const tests = words.map(w => {
    const whole = /^p\d+$/.test(w) ? new RegExp("\\b" + w + "\\b") : null;
    return whole ? s => whole.test(s) : s => s.includes(w);
  });
  const watching = $("detector").checked;
  shown = [];
  matches = words.length ? new Uint8Array(N) : null;
  for (let i = 0; i < N; i++) {
    if (!watching && watched(i)) continue;
    if (matches) {
      const s = (text(i) + " " + holds(i)).toLowerCase();
      if (!tests.every(test => test(s))) continue;
      matches[i] = 1;
    }
    shown.push(i);
  }
  $("count").textContent = shown.length === N ? `${N} events` : `${shown.length} of ${N} events`;
}

function setZoom(z) {
  const box = $("scroller"), x = X(xs[k]);
  zoom = Math.max(0.02, Math.min(mostZoom(), z));
  resize();
  box.scrollLeft += X(xs[k]) - x;
  bring();
  remember();
  redraw();
}

// The address holds the place.

let restoring = false;
function remember() {
  if (restoring) return;
  const q = new URLSearchParams();
  q.set("event", D.first + k);
  if (Math.abs(zoom - 1) > 1e-6) q.set("zoom", String(Number(zoom.toPrecision(3))));
  if ($("filter").value.trim()) q.set("filter", $("filter").value.trim());
  if ($("detector").checked !== D.detector) q.set("detector", $("detector").checked ? "1" : "0");
  if (even) q.set("even", "1");
  if (!$("cones").checked) q.set("cones", "0");
  const hash = "#" + q;
  if (hash === location.hash) return;
  try { history.replaceState(null, "", hash); } catch (e) { /* too many in a second: the next one will do */ }
}

function restore() {
  restoring = true;
  const q = new URLSearchParams(location.hash.slice(1));
  $("filter").value = q.get("filter") || "";
  $("detector").checked = q.has("detector") ? q.get("detector") === "1" : D.detector;
  $("cones").checked = q.get("cones") !== "0";
  even = $("even").checked = q.get("even") === "1";
  layOut();
  placeMessages();
  zoom = Math.max(0.02, Math.min(mostZoom(), Number(q.get("zoom")) || 1));
  applyFilter();
  resize();
  const n = parseInt(q.get("event"), 10);
  select((Number.isNaN(n) ? D.open : n) - D.first);
  restoring = false;
}

// Jumps.

// twice are the events at which a second live process names itself leader while one does.
function twice() {
  const lead = new Set(), out = [];
  const look = (p, i) => {
    const leader = value(p, 1, i), alive = value(p, 0, i);
    const leads = leader >= 0 && new RegExp(`^p${p}\\b`).test(D.words[leader]) && (alive < 0 || D.words[alive] !== "down");
    const before = lead.size;
    if (leads) lead.add(p); else lead.delete(p);
    if (i >= 0 && before < 2 && lead.size >= 2) out.push(i);
  };
  for (let p = 1; p <= D.nodes; p++) look(p, -1);
  for (const i of [...D.changedAt.keys()].sort((x, y) => x - y)) if (process(i) > 0) look(process(i), i);
  return out;
}

function readJumps() {
  const events = test => { const out = []; for (let i = 0; i < N; i++) if (test(i)) out.push(i); return out; };
  D.broken = new Map();
  const b = D.breaches || [];
  for (let i = 0; i < b.length; i += 2) D.broken.set(b[i], [...(D.broken.get(b[i]) || []), b[i + 1]]);
  const led = i => (D.changedAt.get(i) || []).some((f, n, all) => n % 2 === 0 && f === 1 && D.words[all[n + 1]] !== "") &&
    type(i).name !== "up";
  jumps = [
    { name: "violation", key: "v", colour: "bad", top: 0, events: [...D.broken.keys()].sort((x, y) => x - y) },
    { name: "crash or fault", key: "c", colour: "hot", top: 0.25, events: events(i => type(i).jump === "fault") },
    { name: "two leaders at once", key: "t", colour: "bad", top: 0.35, events: twice() },
    { name: "leader change", key: "l", colour: "k3", top: 0.5, events: events(led) },
    { name: "entry", key: "e", colour: "cs", top: 0.65, events: events(i => type(i).jump === "entry") },
  ].filter(jump => jump.events.length > 0 || jump.key === "v" || jump.key === "c");
  for (const jump of jumps) {
    const go = by => () => select(near(jump.events, k, by));
    jump.back = make("button", { type: "button", title: `the ${jump.name} before (Shift+${jump.key})`,
      "aria-label": `Previous ${jump.name}`, onclick: go(-1) }, "◂");
    jump.next = make("button", { type: "button", title: `the next ${jump.name} (${jump.key})`, id: "next-" + jump.key,
      "aria-label": `Next ${jump.name}`, onclick: go(1) }, "▸");
    $("jumps").append(make("span", { class: "jump " + jump.name, role: "group", "aria-label": jump.name },
      jump.back, make("span", {}, jump.name + " ", make("b", { class: jump.events.length ? "some" : null }, String(jump.events.length))), jump.next));
  }
}

// hit is the event that stands at a point of the canvas; -1: none.
function hit(x, y) {
  let best = -1, least = 14;
  for (let i = lowest(x - 16); i < N && X(xs[i]) < x + 16; i++) {
    if (process(i) === 0 || matches && !matches[i] || watched(i) && !$("detector").checked) continue;
    const far = Math.hypot(X(xs[i]) - x, Y(process(i)) - y) - (glyphs[type(i).name] ? 1 : 0);
    if (far < least) { least = far; best = i; }
  }
  if (best >= 0 && least < 9) return best;
  const m = D.messages;
  least = 6;
  for (let i = 0; i < M; i++) {
    if (m.watch[i] === 1 && !$("detector").checked) continue;
    const a = X(D.from[i]), b = X(D.to[i]);
    if (b < x - 8 || a > x + 8) continue;
    const ya = Y(m.from[i]), yb = Y(m.to[i]), length = Math.hypot(b - a, yb - ya);
    if (length === 0 || (x - a) * (b - a) + (y - ya) * (yb - ya) < 0 || (x - b) * (a - b) + (y - yb) * (ya - yb) < 0) continue;
    const far = Math.abs((b - a) * (ya - y) - (a - x) * (yb - ya)) / length;
    if (far < least) { least = far; best = m.end[i] >= 0 ? m.end[i] : m.send[i]; }
  }
  return best;
}

function listen() {
  const on = (id, what, f) => $(id).addEventListener(what, f);
  on("first", "click", () => select(shown[0]));
  on("last", "click", () => select(shown[shown.length - 1]));
  on("back", "click", () => step(-1));
  on("next", "click", () => step(1));
  on("play", "click", play);
  on("speed", "change", () => { if (timer) { stop(); play(); } });
  on("slider", "input", () => {
    const n = index(Number($("slider").value));
    select(shown.length ? shown[Math.min(n, shown.length - 1)] : Number($("slider").value));
  });
  const filtered = () => { applyFilter(); select(k, false); };
  on("filter", "input", filtered);
  on("detector", "change", filtered);
  on("cones", "change", () => { remember(); redraw(); });
  on("even", "change", () => { even = $("even").checked; layOut(); placeMessages(); setZoom(zoom); });
  on("in", "click", () => setZoom(zoom * 1.5));
  on("out", "click", () => setZoom(zoom / 1.5));
  on("list", "click", e => {
    const button = e.target.closest("button");
    if (button) select(Number(button.dataset.event));
  });
  on("scroller", "scroll", redraw);
  on("view", "click", e => { const i = hit(e.offsetX, e.offsetY); if (i >= 0) select(i, false); });
  on("view", "mousemove", e => {
    const i = hit(e.offsetX, e.offsetY), tip = $("tip");
    tip.hidden = i < 0;
    if (i < 0) return;
    tip.textContent = `${D.first + i} · ${time(at[i])} · ${text(i)} ${holds(i)}`;
    tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = Math.min(e.clientY + 16, innerHeight - tip.offsetHeight - 8) + "px";
  });
  on("view", "mouseleave", () => { $("tip").hidden = true; });
  addEventListener("keydown", e => {
    const tag = e.target.tagName;
    if (e.ctrlKey || e.metaKey || e.altKey || tag === "SELECT" || tag === "INPUT" && e.target.type === "search") return;
    const press = tag === "BUTTON" || tag === "SUMMARY" || tag === "INPUT";
    const by = e.shiftKey ? -1 : 1, jump = jumps.find(j => j.key === e.key.toLowerCase());
    const same = list => near(list, k, e.key === "ArrowRight" ? 1 : -1);
    const wide = e.target.id === "states"; // the arrows scroll it
    switch (true) {
      case (e.key === "ArrowRight" || e.key === "ArrowLeft") && !wide:
        if (e.shiftKey && process(k) > 0) select(same(D.mine[process(k)])); else step(e.key === "ArrowRight" ? 1 : -1);
        break;
      case e.key === "Home" && !wide: select(shown[0]); break;
      case e.key === "End" && !wide: select(shown[shown.length - 1]); break;
      case e.key === " " && !press: play(); break;
      case e.key === "+" || e.key === "=": setZoom(zoom * 1.5); break;
      case e.key === "-": setZoom(zoom / 1.5); break;
      case jump !== undefined: select(near(jump.events, k, by)); break;
      default: return;
    }
    e.preventDefault();
  });
  addEventListener("resize", () => { resize(); bring(); tellList(); });
  addEventListener("hashchange", () => { stop(); restore(); });
}

function buildTheme() {
  Theme.changed(() => { colours = {}; drawMap(); buildLegend(); redraw(); });
}

function buildLegend() {
  const sides = [...new Set(D.bands.flatMap(b => b.sides).map(side => (side + 4) % 4))].sort();
  const kinds = [...new Set(D.messages.kind)].sort((a, b) => a - b);
  const svg = (dash, colour) => {
    const ns = "http://www.w3.org/2000/svg", s = document.createElementNS(ns, "svg"), path = document.createElementNS(ns, "path");
    path.setAttribute("d", "M0 5H28");
    path.setAttribute("stroke", colour);
    path.setAttribute("stroke-width", "2");
    path.setAttribute("stroke-dasharray", dash.join(" "));
    s.append(path);
    s.setAttribute("aria-hidden", "true");
    return s;
  };
  $("legend").replaceChildren(...kinds.map(kind => make("li", {}, svg(dashes[kind % dashes.length], kindColour(kind)), D.kinds[kind])),
    ...(sides.length ? [make("li", {}, ...sides.map(side => make("i", { class: "side g" + side })), "the sides of a partition")] : []),
    make("li", {}, make("i", { class: "past" }), "what could have led to the event"),
    make("li", {}, make("i", { class: "future" }), "what the event could have led to"));
}

async function begin() {
  const begun = performance.now();
  if (typeof DecompressionStream === "undefined") {
    $("now").textContent = "This browser is too old to unpack the events; any of 2023 or later can.";
    return;
  }
  D = JSON.parse(await unpack($("data").dataset.packed));
  N = D.events.at.length;
  at = new Float64Array(N);
  for (let i = 0; i < N; i++) at[i] = D.events.at[i] + (i > 0 ? at[i - 1] : 0);
  D.global = [];
  for (let i = 0; i < N; i++) if (process(i) === 0) D.global.push(i);
  buildTheme();
  D.bands = D.bands || [];
  readStates();
  readMessages();
  readCauses();
  readJumps();
  buildStates();
  buildLegend();
  $("slider").max = N - 1;
  $("detector-label").hidden = !D.messages.watch.includes(1);
  restore();
  listen();
  requestAnimationFrame(() => requestAnimationFrame(() => {
    document.documentElement.dataset.opened = Math.round(performance.now());
    document.documentElement.dataset.took = Math.round(performance.now() - begun);
  }));
}

begin();
