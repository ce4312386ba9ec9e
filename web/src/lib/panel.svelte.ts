/** The memory that is open beside a view: `open=ID` in the address, so that “back” closes it. */
import type { Schemas } from "./api";
import { href, route } from "./router.svelte";

export type Memory = Schemas["Memory"];

/** What lists have shown, so that the panel has something to show at once. */
export const seen = new Map<string, Memory>();

export function openHref(memory: Memory): string {
  seen.set(memory.id, memory);
  return hrefWith("open", memory.id);
}

/** The present address with one parameter changed. */
export function hrefWith(name: string, value: string | undefined): string {
  const params = Object.fromEntries(route.params);
  return href(route.view, route.id, { ...params, [name]: value });
}

export function close(): void {
  location.hash = hrefWith("open", undefined);
}
