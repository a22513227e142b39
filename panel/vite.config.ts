import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** `TREERING_SERVER` is the server that the development server passes requests on to. */
const server = process.env["TREERING_SERVER"] ?? "http://127.0.0.1:18734";

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@": here("./src") } },
  build: {
    outDir: process.env["PANEL_OUT"] ?? here("../src/treering/interfaces/panel/dist"),
    emptyOutDir: true,
    sourcemap: false,
    manifest: true,
    target: "es2023",
    assetsInlineLimit: 0, // the server's content security policy has no `font-src data:`
    reportCompressedSize: false,
  },
  server: {
    proxy: { "/api": { target: server, headers: { origin: server } }, "/sign-in": server },
  },
});
