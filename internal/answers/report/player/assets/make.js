// make builds an element: make("p", {class: "small"}, "text", child, ...).
function make(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, v] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) e.addEventListener(name.slice(2), v);
    else if (v === true) e.setAttribute(name, "");
    else if (v !== false && v !== null && v !== undefined) e.setAttribute(name, v);
  }
  e.append(...children.filter(c => c !== null && c !== undefined));
  return e;
}
