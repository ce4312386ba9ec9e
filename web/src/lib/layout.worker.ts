/** Lays out a graph in a thread of its own, and reports positions as they settle. */
import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";

export type Wanted = { nodes: [string, number, number, boolean][]; edges: [string, string, number][]; iterations: number };
export type Settled = { positions: Float32Array; done: boolean };

const STEP = 12;

let current = 0;
let waiting: (() => void) | undefined;
let held = false;

self.onmessage = ({ data }: MessageEvent<Wanted | "wait" | "resume">) => {
  if (data === "wait" || data === "resume") {
    held = data === "wait";
    if (!held) waiting?.();
    return;
  }
  waiting = undefined;
  const mine = ++current;
  const graph = new Graph({ multi: true });
  for (const [id, x, y, fixed] of data.nodes) graph.addNode(id, { x, y, fixed });
  for (const [source, target, weight] of data.edges) graph.addEdge(source, target, { weight });
  const settings = {
    ...forceAtlas2.inferSettings(graph),
    barnesHutOptimize: graph.order > 800,
    gravity: 0.6,
    scalingRatio: 8,
    slowDown: 4,
    edgeWeightInfluence: 0.6,
    adjustSizes: false,
  };
  let left = data.iterations;

  function step(): void {
    waiting = undefined;
    if (held) return void (waiting = step);
    if (mine !== current) return; // another graph came meanwhile
    const count = Math.min(left, STEP);
    forceAtlas2.assign(graph, { iterations: count, settings });
    left -= count;
    const positions = new Float32Array(graph.order * 2);
    let place = 0;
    graph.forEachNode((_, { x, y }) => {
      positions[place++] = x;
      positions[place++] = y;
    });
    self.postMessage({ positions, done: left <= 0 } satisfies Settled, { transfer: [positions.buffer] });
    if (left > 0) setTimeout(step);
  }
  step();
};
