/** What was remembered lately: index.html lets the browser fetch it while the page itself is being loaded. */

const FRESH = 3000; // milliseconds since the page was opened

// Taken at once, needed or not: the browser would hand it to the next request for this address, whenever
// that comes, and whichever space or login it is for.
let ahead: Promise<Response> | undefined = fetch("/api/memories?order=recent&limit=8");
ahead.catch(() => {});

/** The answer, once, while it is fresh. */
export function recentAhead(): Promise<Response> | undefined {
  const answer = performance.now() < FRESH ? ahead : undefined;
  ahead = undefined;
  return answer;
}

/** Run something once the first view is on the screen. */
export function afterwards(work: () => void): () => void {
  const timer = setTimeout(work, 120);
  return () => clearTimeout(timer);
}
