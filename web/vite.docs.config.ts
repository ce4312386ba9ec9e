/** Builds the API reference, beside the page. */
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { compressed, OUT } from "./vite.compressed.ts";

export default defineConfig({
  plugins: [svelte(), compressed()],
  base: "/",
  publicDir: false,
  build: {
    outDir: OUT,
    emptyOutDir: false,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
    rolldownOptions: { input: { docs: "docs.html" } },
  },
});
