/** Draws the first view while the page is built, so that a browser shows it before it has read any script. */
import { render } from "svelte/server";

/** The few things of a browser that modules look at when they are loaded. */
function pretend(): void {
  const nothing = () => {};
  const stored: Record<string, string> = { was_inside: "yes" };
  Object.assign(globalThis, {
    localStorage: { getItem: (name: string) => stored[name] ?? null, setItem: nothing, removeItem: nothing },
    location: { hash: "", origin: "", pathname: "/" },
    matchMedia: () => ({ matches: false, addEventListener: nothing }),
    addEventListener: nothing,
    document: { documentElement: { dataset: {} }, getElementById: () => null },
    fetch: () => new Promise(nothing),
  });
}

export async function firstView(): Promise<string> {
  pretend();
  const { default: App } = await import("./App.svelte");
  return render(App).body;
}
