/**
 * Keeps the keyboard focus on the page. When what has it is taken away, by whatever and whenever, it goes to the same
 * control of the neighbouring row, back to what opened the dialog or panel, or to the heading of what is left.
 */

const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex]";
/** Parts of the page that somebody is in. */
const SCOPES = "dialog, aside, [role=region], main";

let holder: HTMLElement | undefined;
/** What had the focus when a dialog or a panel opened. */
const openers = new WeakMap<Element, HTMLElement>();

const isUsable = (element: Element) => element.isConnected && !element.matches(":disabled");
/** Nothing has the focus, or something that takes no key. */
const isLost = () => !document.activeElement || document.activeElement === document.body || document.activeElement.matches(":disabled");

/** Call when a dialog or a panel opens, before it takes the focus: closing it gives the focus back. */
export function opening(scope: Element): void {
  const now = document.activeElement;
  if (now instanceof HTMLElement && now !== document.body && !scope.contains(now)) openers.set(scope, now);
}

/** Watch over the focus from now on. */
export function keepFocus(): void {
  document.addEventListener("focusin", ({ target }) => (holder = target as HTMLElement));
  document.addEventListener("focusout", ({ relatedTarget }) => {
    // A click beside everything gives the focus up, and so does leaving the window for a while; a removal does not.
    if (!relatedTarget) queueMicrotask(() => { if (holder && isUsable(holder) && document.hasFocus() && isLost()) holder = undefined; });
  });
  new MutationObserver((changes) => {
    if (!holder || !isLost()) return;
    refuge(holder, changes)?.focus({ preventScroll: true });
  }).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["disabled"] });
}

function refuge(from: HTMLElement, changes: MutationRecord[]): HTMLElement | undefined {
  if (isUsable(from)) return from; // it was moved, or may be used again
  const row = from.closest("li");
  if (from.isConnected) return row ? controls(row).find(isUsable) : undefined; // a button that waits gets the focus back
  const taken = changes.find(({ removedNodes }) => [...removedNodes].some((node) => node.contains(from)));
  const opener = openerOf(from);
  if (opener) return refuge(opener, changes);
  return (row && neighbour(row, from, changes)) ?? remaining(taken?.target);
}

function openerOf(from: Element): HTMLElement | undefined {
  for (let scope = from.closest(SCOPES); scope; scope = scope.parentElement?.closest(SCOPES) ?? null) {
    const opener = openers.get(scope);
    if (opener && !scope.isConnected) return opener;
  }
  return undefined;
}

const controls = (row: Element) => [...row.querySelectorAll<HTMLElement>(CONTROLS)];

/** The same control of the row that came after the one that went, or else of the one before it. */
function neighbour(row: Element, from: HTMLElement, changes: MutationRecord[]): HTMLElement | undefined {
  const gone = changes.find(({ removedNodes }) => [...removedNodes].includes(row));
  const next = rowFrom(gone?.nextSibling, "nextSibling") ?? rowFrom(gone?.previousSibling, "previousSibling");
  if (!next) return undefined;
  const same = controls(next)[controls(row).indexOf(from)];
  return same && isUsable(same) ? same : controls(next).find(isUsable);
}

function rowFrom(node: Node | null | undefined, onwards: "nextSibling" | "previousSibling"): Element | undefined {
  while (node && !(node instanceof Element && node.matches("li"))) node = node[onwards];
  return node?.isConnected ? (node as Element) : undefined;
}

/** The heading of the part that is left, or the part itself. */
function remaining(from: Node | undefined): HTMLElement | undefined {
  const near = from instanceof Element ? from : from?.parentElement;
  for (let scope = near?.isConnected ? near.closest<HTMLElement>(SCOPES) : null; scope; scope = scope.parentElement?.closest<HTMLElement>(SCOPES) ?? null) {
    const heading = scope.matches("main") ? null : scope.querySelector<HTMLElement>("[tabindex]:is(h1, h2)");
    const found = heading ?? (scope.matches("[tabindex]") ? scope : null);
    if (found) return found;
  }
  return document.querySelector<HTMLElement>("main") ?? undefined;
}
