// Fails if the JavaScript of the first load is larger than the budget. The map's chunks load on demand and do not count.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const BUDGET = 250 * 1024;
const FIRST_PAGES = ["index.html", "src/pages/health/HealthPage.tsx"];
const folder = process.env.PANEL_OUT ?? join(dirname(fileURLToPath(import.meta.url)), "../../src/treering/interfaces/panel/dist");
const manifest = JSON.parse(readFileSync(join(folder, ".vite/manifest.json"), "utf8"));

/** The files that a browser loads for these entries, without those that are imported on demand. */
function filesOf(entries) {
  const files = new Set();
  const waiting = [...entries];
  while (waiting.length > 0) {
    const chunk = manifest[waiting.pop()];
    if (!chunk || files.has(chunk.file)) continue;
    files.add(chunk.file);
    waiting.push(...(chunk.imports ?? []));
  }
  return [...files].filter((file) => file.endsWith(".js"));
}

let total = 0;
for (const file of filesOf(FIRST_PAGES)) {
  const size = gzipSync(readFileSync(join(folder, file))).length;
  total += size;
  console.log(`${(size / 1024).toFixed(1).padStart(8)} KB  ${file}`);
}
console.log(`${(total / 1024).toFixed(1).padStart(8)} KB  first load of ${BUDGET / 1024} KB (JavaScript, gzip)`);
if (total > BUDGET) {
  console.error("The first load is larger than its budget: import what a page needs on demand, or use a smaller library.");
  process.exit(1);
}
