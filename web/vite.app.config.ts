/** Builds the view of results inside a conversation: one document with its script and its style in it. */
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

/** A host shows a document that it was handed, and lets it load nothing. */
function inOneDocument(): Plugin {
  return {
    name: "in-one-document",
    enforce: "post",
    generateBundle(_, bundle) {
      let style = "";
      let script = "";
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === "chunk") script += file.code;
        else if (name.endsWith(".css")) style += file.source;
        if (name.endsWith(".js") || name.endsWith(".css")) delete bundle[name];
      }
      const page = bundle["app.html"];
      if (page?.type !== "asset") throw new Error("app.html was not built");
      page.source = String(page.source)
        .replace(/\s*<link rel="stylesheet"[^>]*>/, () => `<style>${style}</style>`)
        .replace(/\s*<script type="module"[^>]*><\/script>/, "")
        .replace("</body>", () => `<script type="module">${script.replaceAll("</script", "<\\/script")}</script></body>`);
    },
  };
}

export default defineConfig({
  plugins: [svelte(), inOneDocument()],
  publicDir: false,
  build: {
    outDir: "../src/mcp_memory/server/page",
    emptyOutDir: false,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    rolldownOptions: { input: "app.html", output: { codeSplitting: false } },
  },
});
