/** Finds places for the nodes of a graph, a few steps at a time, in whatever thread runs it. */
import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";

export type Wanted = { nodes: [string, number, number, boolean][]; edges: [string, string, number][]; iterations: number };
export type Report = (positions: Float32Array<ArrayBuffer>) => void;
export type Layout = {
  start(wanted: Wanted, report: Report): void;
  /** Wait, or go on. */
  hold(on: boolean): void;
  stop(): void;
};

const STEP = 12;

export function layoutHere(): Layout {
  let current = 0;
  let waiting: (() => void) | undefined;
  let held = false;

  function start(wanted: Wanted, report: Report): void {
    waiting = undefined;
    const mine = ++current;
    const graph = new Graph({ multi: true });
    for (const [id, x, y, fixed] of wanted.nodes) graph.addNode(id, { x, y, fixed });
    for (const [source, target, weight] of wanted.edges) graph.addEdge(source, target, { weight });
    const settings = {
      ...forceAtlas2.inferSettings(graph),
      barnesHutOptimize: graph.order > 800,
      gravity: 0.6,
      scalingRatio: 8,
      slowDown: 4,
      edgeWeightInfluence: 0.6,
      adjustSizes: false,
    };
    let left = wanted.iterations;

    function step(): void {
      waiting = undefined;
      if (mine !== current) return; // another graph came meanwhile
      if (held) return void (waiting = step);
      const count = Math.min(left, STEP);
      forceAtlas2.assign(graph, { iterations: count, settings });
      left -= count;
      const positions = new Float32Array(graph.order * 2);
      let place = 0;
      graph.forEachNode((_, { x, y }) => {
        positions[place++] = x;
        positions[place++] = y;
      });
      report(positions);
      if (left > 0) setTimeout(step);
    }
    step();
  }

  return {
    start,
    hold(on) {
      held = on;
      if (!held) waiting?.();
    },
    stop: () => void current++,
  };
}
