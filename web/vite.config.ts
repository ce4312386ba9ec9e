import { gzipSync } from "node:zlib";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

// Everything that the first view shows, with its styles and the font's: two files instead of a dozen.
const FIRST = /node_modules.(svelte|openapi-fetch|esm-env|clsx|@fontsource-variable)|src.(App|styles|views.(Search|Login))|src.lib.(api|early|events|format|mark|notices|panel|router|session|theme|undo)|src.parts.(Icon|Notices|Filters|Marked|MemoryLine|OpenMemory|PromptPreview|Why|Dialog)/;
const OUT = "../src/mcp_memory/server/page";

/** Writes a `.gz` beside every file that shrinks, so that the server need not compress. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    closeBundle() {
      for (const entry of readdirSync(OUT, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(js|css|html|svg)$/.test(entry.name)) continue;
        const path = join(entry.parentPath, entry.name);
        writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  plugins: [svelte(), compressed()],
  base: "/",
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: "es2022",
    // Data in a URL would need a weaker Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: "index.html", docs: "docs.html" },
      // What the first view needs is one file: every further one would be a further request.
      output: { codeSplitting: { groups: [{ name: "page", test: FIRST }] } },
    },
  },
  worker: { format: "es" },
  // For `npm run dev`: the page reloads by itself, the memory is that of a running server.
  server: { proxy: { "/api": "http://127.0.0.1:3333", "/openapi.json": "http://127.0.0.1:3333" } },
});
