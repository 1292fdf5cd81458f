"use strict";
// The theme is the system's.
const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => { document.documentElement.dataset.theme = dark.matches ? "dark" : "light"; };
dark.addEventListener("change", theme);
theme();

// A page with something that goes on asks for itself again, and takes over what is new.
const root = document.documentElement, stale = document.getElementById("stale");
async function again() {
  if (!("going" in root.dataset)) return;
  if (!document.hidden) {
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (page.documentElement.dataset.kind !== root.dataset.kind) { location.reload(); return; }
      for (const fresh of page.querySelectorAll("[data-part]")) take(fresh);
      document.title = page.title;
      stale.textContent = "";
      if (!("going" in page.documentElement.dataset)) delete root.dataset.going;
    } catch {
      stale.textContent = "bench has ended: this is how far the page came.";
      return;
    }
  }
  setTimeout(again, 1500);
}

// The focus stays on the link on which it was. A log only grows: it stays where somebody reads,
// and a screen reader tells what is new.
function take(fresh) {
  const old = document.querySelector(`[data-part="${fresh.dataset.part}"]`);
  if (old.innerHTML === fresh.innerHTML) return;
  const list = old.querySelector("ul"), longer = fresh.querySelector("ul");
  if (old.getAttribute("role") === "log" && list && longer) {
    list.append(...[...longer.children].slice(list.children.length));
    while (list.nextSibling) list.nextSibling.remove();
    while (longer.nextSibling) old.append(longer.nextSibling);
    return;
  }
  const focused = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  old.innerHTML = fresh.innerHTML;
  if (focused) for (const a of old.querySelectorAll("a")) if (a.getAttribute("href") === focused) a.focus();
}
setTimeout(again, 1500);
