/** The API reference: our OpenAPI document, to read and to try. */
import "@fontsource-variable/inter/wght.css";
import "swagger-ui-dist/swagger-ui.css";
import "./docs.css";
import SwaggerUIBundle from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { headers } from "./lib/api";
import { begin } from "./lib/session.svelte";
import { theme } from "./lib/theme.svelte";

await begin();
document.documentElement.classList.toggle("dark-mode", theme.dark);
SwaggerUIBundle({
  url: "/openapi.json",
  domNode: document.getElementById("reference"),
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  filter: true,
  // Sent as the page sends it, so that a login counts here too.
  requestInterceptor: (request) => {
    const { "x-memory-record": _, ...own } = headers();
    request.headers = { ...own, ...request.headers };
    return request;
  },
});
