"use strict";
// Finds sections that have all words of the question, the last of which may be a beginning.
const box = document.getElementById("search");
const list = document.getElementById("found");
const none = document.getElementById("none");
const up = document.body.dataset.up;
const most = 30;

const folded = sections.map((s) => ({ heading: s.heading.toLowerCase(), title: s.title.toLowerCase(), words: s.words.toLowerCase() }));

// A heading counts more than the title of its page, and that more than the text; a word more than a part of one.
function score(s, word) {
  const whole = new RegExp("(^|[^\\p{L}\\p{N}])" + word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "u");
  let sum = 0;
  for (const [text, weight] of [[s.heading, 20], [s.title, 8], [s.words, 2]]) {
    if (text.includes(word)) sum += whole.test(text) ? weight : weight / 4;
  }
  return sum;
}

const asked = (question) => question.toLowerCase().split(/\s+/).filter(Boolean);

function search(question) {
  const words = asked(question), phrase = words.join(" ");
  if (words.length === 0) return [];
  const hits = [];
  folded.forEach((s, i) => {
    const scores = words.map((w) => score(s, w));
    if (scores.every((x) => x > 0)) hits.push([scores.reduce((a, b) => a + b, score(s, phrase)), i]);
  });
  hits.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  return hits.map(([, i]) => sections[i]);
}

// What stands around the words if they stand together, else around the first.
function excerpt(s, question) {
  const words = asked(question), text = s.words.toLowerCase();
  const places = [words.join(" "), words[0]].map((w) => text.indexOf(w));
  const at = Math.max(0, places.find((i) => i >= 0) - 40 || 0);
  return (at > 0 ? "… " : "") + s.words.slice(at, at + 120) + (s.words.length > at + 120 ? " …" : "");
}

function show() {
  const hits = search(box.value);
  list.replaceChildren(...hits.slice(0, most).map((s) => {
    const item = document.createElement("li"), a = document.createElement("a"), text = document.createElement("span");
    a.href = up + s.page + (s.anchor ? "#" + s.anchor : "");
    a.textContent = s.heading && s.heading !== s.title ? s.title + ": " + s.heading : s.title;
    text.textContent = excerpt(s, box.value);
    item.append(a, text);
    return item;
  }));
  list.hidden = hits.length === 0;
  none.textContent = box.value.trim() === "" ? "" : hits.length === 0 ? "Nothing found." : hits.length > most ? `${most} of ${hits.length} sections` : "";
}

box.addEventListener("input", show);
box.addEventListener("keydown", (e) => {
  if (e.key === "Enter" && list.firstElementChild) list.firstElementChild.querySelector("a").click();
  if (e.key === "Escape") { box.value = ""; show(); }
});
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && document.activeElement !== box) { e.preventDefault(); box.focus(); }
});
// The list of pages hides no text where both share a column, and shows where one is.
const nav = document.querySelector("nav"), here = nav.querySelector("[aria-current]");
nav.querySelector("details").open = getComputedStyle(nav).position === "sticky";
nav.scrollTop = here.offsetTop - nav.clientHeight / 2;
document.documentElement.dataset.opened = "";
