import type { Layout } from "./layout";

/** A layout that leaves the page free to move. */
export function layoutInWorker(): Layout {
  const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  return {
    start(wanted, report) {
      worker.onmessage = ({ data }) => report(data);
      worker.postMessage(wanted);
    },
    hold: (on) => worker.postMessage(on ? "wait" : "resume"),
    stop: () => worker.terminate(),
  };
}
