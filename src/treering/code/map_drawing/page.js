const map = document.querySelector("svg.map"), panel = document.querySelector("aside"), search = document.querySelector("input");
const areas = [...map.querySelectorAll(".area")], ties = [...map.querySelectorAll(".tie")];
const rows = new Map([...document.querySelectorAll("tbody tr")].map(row => [row.dataset.module, row]));
let pinned = "";

function told(title, text) {
  panel.appendChild(document.createElement("h3")).textContent = title;
  panel.appendChild(document.createElement("p")).textContent = text;
}

function some(names) {
  return names.slice(0, 12).join(", ") + (names.length > 12 ? " and " + (names.length - 12) + " more" : "");
}

function show(name) {
  const near = new Set([name]), uses = [], used = [];
  for (const tie of ties) {
    const { from, to } = tie.dataset, on = from === name || to === name;
    tie.classList.toggle("on", on);
    if (on) { near.add(from).add(to); if (from === name) uses.push(to); else used.push(from); }
  }
  for (const area of areas) area.classList.toggle("on", near.has(area.dataset.module));
  map.classList.add("one");
  const row = rows.get(name), files = [...row.querySelectorAll("details code")].map(code => code.textContent);
  panel.replaceChildren();
  panel.appendChild(document.createElement("h2")).textContent = name;
  if (uses.length) told("uses", some(uses));
  if (used.length) told("used by", some(used));
  told(files.length === 1 ? "1 file" : files.length + " files", files.join("\n"));
  panel.hidden = false;
}

function leave() {
  if (pinned) return show(pinned);
  map.classList.remove("one");
  panel.hidden = true;
}

for (const area of areas) {
  const name = area.dataset.module;
  area.querySelector("title").remove();
  area.setAttribute("tabindex", "0");
  area.addEventListener("mouseenter", () => show(name));
  area.addEventListener("focus", () => show(name));
  area.addEventListener("mouseleave", leave);
  area.addEventListener("blur", leave);
  area.addEventListener("click", event => { event.stopPropagation(); pinned = pinned === name ? "" : name; show(name); });
}
document.addEventListener("click", event => { if (!panel.contains(event.target)) { pinned = ""; leave(); } });
document.addEventListener("keydown", event => { if (event.key === "Escape") { pinned = ""; leave(); } });
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/);
  map.classList.toggle("sought", search.value.trim() !== "");
  for (const area of areas) {
    const row = rows.get(area.dataset.module), text = row.textContent.toLowerCase();
    row.hidden = !words.every(word => text.includes(word));
    area.classList.toggle("missed", row.hidden);
  }
});
