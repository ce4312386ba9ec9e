/** Where the keyboard goes when what it stood on has gone. */
import { tick } from "svelte";

/** The keyboard stands nowhere: what had it was removed, or can no longer have it. */
const isLost = () => !document.activeElement || document.activeElement === document.body;

/** Once the page is drawn again, take the keyboard to a place if it stands nowhere. */
export async function regain(place: () => HTMLElement | null | undefined): Promise<void> {
  await tick();
  if (isLost()) place()?.focus();
}

/** Remembers what has the keyboard; the answer takes it back there, or to the view. */
export function comeBack(): () => void {
  const before = document.activeElement as HTMLElement | null;
  return () =>
    void tick().then(() => {
      if (!isLost()) return;
      if (before?.isConnected && before !== document.body) before.focus();
      else document.getElementById("main")?.focus();
    });
}
