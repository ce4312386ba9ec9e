/** Where one is: the part after `#`, as in `#/memories?type=goal`. Back and forward work, links can be shared. */

export const VIEWS = ["search", "memories", "graph", "changes", "health", "start"] as const;
export type View = (typeof VIEWS)[number];

class Route {
  view = $state<View>("search");
  /** What follows the view: the id of the memory or entity that is open. */
  id = $state("");
  params = $state(new URLSearchParams());
}

export const route = new Route();

function read(): void {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [view = "", id = ""] = path.split("/");
  route.view = VIEWS.find((one) => one === view) ?? "search";
  route.id = decodeURIComponent(id);
  route.params = new URLSearchParams(query);
}

export function href(view: View, id = "", params: Record<string, string | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value) query.set(name, value);
  return `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}${query.size ? `?${query}` : ""}`;
}

export function go(to: string): void {
  location.hash = to;
}

/** Change the address without a new step in the history, as while typing. */
export function replace(to: string): void {
  history.replaceState(null, "", to);
  read();
}

addEventListener("hashchange", read);
read();
