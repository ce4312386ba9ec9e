/** Lays out a graph in a thread of its own. */
import { layoutHere, type Wanted } from "./layout";

const layout = layoutHere();

self.onmessage = ({ data }: MessageEvent<Wanted | "wait" | "resume">) => {
  if (data === "wait" || data === "resume") layout.hold(data === "wait");
  else layout.start(data, (positions) => self.postMessage(positions, { transfer: [positions.buffer] }));
};
