/** The answer that index.html asks the browser to fetch ahead, while the page itself is being loaded. */

const RECENT = "/api/memories?order=recent&limit=8";
let left = true;

/** What was remembered lately, fetched ahead; once, since afterwards it is old. */
export function recentAhead(): Promise<Response> | undefined {
  if (!left) return undefined;
  left = false;
  return fetch(RECENT); // the browser hands it over only to a request without headers of its own
}

/** Run something once the first view is on the screen. */
export function afterwards(work: () => void): () => void {
  const timer = setTimeout(work, 120);
  return () => clearTimeout(timer);
}
