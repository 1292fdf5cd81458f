"use strict";
// The theme is that of the system until somebody presses the button, which all pages of one place remember. Paper is
// always light. Whoever draws in colours of its own asks Theme.dark(), and draws again when Theme.changed calls it.
const Theme = (() => {
  const system = matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement, listeners = [];
  const button = document.getElementById("theme"), next = { system: "dark", dark: "light", light: "system" };
  let chosen = "system", printing = false;
  // A file, or a page that a browser keeps from storing, has no memory.
  const remember = act => { try { return act(localStorage); } catch { return null; } };
  const dark = () => !printing && (chosen === "dark" || chosen === "system" && system.matches);
  const apply = () => {
    root.dataset.theme = dark() ? "dark" : "light";
    if (button) button.textContent = "Theme: " + chosen;
    listeners.forEach(draw => draw());
  };
  const kept = remember(memory => memory.getItem("conclave-theme"));
  if (kept in next) chosen = kept;
  if (button) {
    button.hidden = false;
    button.addEventListener("click", () => {
      chosen = next[chosen];
      remember(memory => memory.setItem("conclave-theme", chosen));
      apply();
    });
  }
  system.addEventListener("change", apply);
  addEventListener("beforeprint", () => { printing = true; apply(); });
  addEventListener("afterprint", () => { printing = false; apply(); });
  apply();
  return { dark, changed: draw => listeners.push(draw) };
})();
