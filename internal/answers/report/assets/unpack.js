"use strict";
// What is large in the page is compressed and in base 64: its data, and the scripts that draw it.

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

(async () => {
  const part = id => document.getElementById(id);
  if (typeof DecompressionStream === "undefined") {
    part("old-browser").hidden = false;
    return;
  }
  part("data").textContent = await unpack(part("data").textContent);
  const code = document.createElement("script");
  code.textContent = await unpack(part("code").textContent); // the page's policy has its sum
  document.body.append(code);
})();
