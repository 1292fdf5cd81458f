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
    } catch { // bench has ended, or the page was left while it asked, and is shown again
      stale.textContent = "bench does not answer: this is how far the page came.";
    }
  }
  setTimeout(again, 1500);
}

// What is ticked stays so, and the focus on the link or the box on which it was. A log only grows: it stays
// where somebody reads, and a screen reader tells what is new.
const keyOf = e => e.getAttribute("href") ?? e.value;
function take(fresh) {
  const old = document.querySelector(`[data-part="${fresh.dataset.part}"]`);
  if (!old || old.innerHTML === fresh.innerHTML) return;
  const box = old.closest("section");
  if (box) box.className = fresh.closest("section").className;
  const list = old.querySelector("ul"), longer = fresh.querySelector("ul");
  if (old.getAttribute("role") === "log" && list && longer) {
    list.append(...[...longer.children].slice(list.children.length));
    while (list.nextSibling) list.nextSibling.remove();
    while (longer.nextSibling) old.append(longer.nextSibling);
    return;
  }
  const ticked = new Set([...old.querySelectorAll(":checked")].map(box => box.value));
  const focused = old.contains(document.activeElement) ? keyOf(document.activeElement) : null;
  old.innerHTML = fresh.innerHTML;
  for (const box of old.querySelectorAll("input[type=checkbox]")) box.checked = ticked.has(box.value);
  if (focused) for (const e of old.querySelectorAll("a, input")) if (keyOf(e) === focused) e.focus();
}
setTimeout(again, 1500);
