/** The conversation that this is shown in. */
import { App, type McpUiHostContext } from "@modelcontextprotocol/ext-apps";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { theme } from "../lib/theme.svelte";
import { read, type Around, type Failed, type Recalled } from "./results";

const app = new App({ name: "mcp-memory", version: "1" }, { availableDisplayModes: ["inline", "fullscreen"] });

class Host {
  arguments = $state.raw<Record<string, unknown>>({});
  result = $state.raw<Recalled | Around | Failed>();
  canFill = $state(false);
  isFull = $state(false);
}

export const host = new Host();

app.ontoolinput = ({ arguments: given }) => (host.arguments = given ?? {});
app.ontoolresult = (result) => (host.result = read(result as CallToolResult));
app.ontoolcancelled = () => (host.result = { kind: "failed", message: "The question was cancelled." });
app.onhostcontextchanged = follow;

export async function connect(): Promise<void> {
  await app.connect();
  follow(app.getHostContext() ?? {});
}

function follow(context: McpUiHostContext): void {
  if (context.theme) theme.follow(context.theme);
  const font = context.styles?.variables?.["--font-sans"];
  if (font) document.documentElement.style.setProperty("--font-sans", font);
  if (context.availableDisplayModes) host.canFill = context.availableDisplayModes.includes("fullscreen");
  if (context.displayMode) host.isFull = context.displayMode === "fullscreen";
}

/** A result once more, with everything that is kept; undefined where the host passes no calls on. */
export async function lookAgain(tool: string, given: Record<string, unknown>): Promise<Recalled | Around | undefined> {
  if (!app.getHostCapabilities()?.serverTools) return undefined;
  try {
    const seen = read(await app.callServerTool({ name: "look_again", arguments: { tool, arguments: given } }));
    return seen.kind === "failed" ? undefined : seen;
  } catch {
    return undefined; // what is shown already stays
  }
}

export async function toggleFull(): Promise<void> {
  const { mode } = await app.requestDisplayMode({ mode: host.isFull ? "inline" : "fullscreen" });
  host.isFull = mode === "fullscreen";
}
