import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { build, defineConfig, type Plugin } from "vite";
import { compressed, OUT } from "./vite.compressed.ts";

// Everything that the first view shows, with its styles and the font's: one script and one style.
const FIRST = /rolldown.runtime|node_modules.(svelte|openapi-fetch|esm-env|clsx|@fontsource-variable)|src.(main|App|styles|views.(Search|Login))|src.lib.(api|early|events|focus|format|mark|notices|panel|router|session|theme|undo)|src.parts.(Empty|Icon|Notices|Filters|Marked|MemoryLine|OpenMemory|PromptPreview|Why|Dialog)/;
const MAIN = /<script type="module" crossorigin src="([^"]+)"><\/script>/;
const FIRST_VIEW = "<!-- first view -->";

/** Draws the first view into the page: it can be seen and typed into before any script has run. */
function prerendered(): Plugin {
  let view = "";
  let boot = "";
  return {
    name: "prerendered",
    apply: "build",
    async buildStart() {
      // Inside the project, so that the packages it names are found.
      const folder = mkdtempSync(join(import.meta.dirname, "node_modules", ".prerendered-"));
      await build({
        configFile: false,
        logLevel: "warn",
        plugins: [svelte()],
        publicDir: false,
        build: { ssr: "src/prerender.ts", outDir: folder, emptyOutDir: false },
      });
      const made = await import(pathToFileURL(join(folder, "prerender.js")).href);
      view = await made.firstView();
      rmSync(folder, { recursive: true });
      boot = this.emitFile({ type: "asset", name: "boot.js", source: readFileSync("src/boot.js", "utf-8") });
    },
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle, filename }) {
        if (!filename.endsWith("index.html")) return html;
        const script = Object.values(bundle ?? {}).find((file) => file.type === "asset" && file.names.includes("boot.js"));
        if (!boot || !script) throw new Error("boot.js was not built");
        const main = html.match(MAIN)?.[1];
        if (!main) throw new Error("the page's script was not found");
        return html
          .replace(FIRST_VIEW, () => view)
          .replace(MAIN, `<link rel="modulepreload" crossorigin href="${main}">`)
          .replace("<title>", () => `<script src="/${script.fileName}" data-main="${main}"></script>\n    <title>`);
      },
    },
  };
}

export default defineConfig({
  plugins: [svelte(), prerendered(), compressed()],
  base: "/",
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: "es2022",
    // Data in a URL would need a weaker Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The API reference has a build of its own: what the two share would be files apart.
    rolldownOptions: { input: { index: "index.html" }, output: { codeSplitting: { groups: [{ name: "page", test: FIRST }] } } },
  },
  worker: { format: "es" },
  // For `npm run dev`: the page reloads by itself, the memory is that of a running server.
  server: { proxy: { "/api": "http://127.0.0.1:3333", "/openapi.json": "http://127.0.0.1:3333" } },
});
