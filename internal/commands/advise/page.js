(() => {
  const form = document.getElementById("budget"), slider = document.getElementById("slider");
  const choices = [...document.querySelectorAll(".choice")].map((element) => ({
    element, high: Number(element.dataset.high), time: Number(element.dataset.time),
    allowed: element.dataset.allowed === "true",
  }));
  const show = () => {
    const budget = 10 ** Number(slider.value);
    document.getElementById("rate").textContent = Number(budget.toPrecision(2)).toString();
    let best = null;
    for (const c of choices) {
      if (c.allowed && c.high <= budget * 1.0001 && (best === null || c.time < best.time)) best = c;
    }
    for (const c of choices) c.element.hidden = c !== best;
    document.getElementById("none").hidden = best !== null;
  };
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  slider.addEventListener("input", show);
})();
