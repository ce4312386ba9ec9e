/** The part of the graph that is on the screen. */
import { MultiDirectedGraph } from "graphology";
import type { Schemas } from "./api";

export type NodeData = {
  label: string;
  type_: string;
  size: number;
  x: number;
  y: number;
  color: string;
  degree: number;
  expanded: boolean;
};
export type EdgeData = { label: string; strength: number; ended: boolean; size: number; relation: Relation };
export type Shown = MultiDirectedGraph<NodeData, EdgeData>;
type Relation = Schemas["Relation"];
type Named = { id: string; name: string; entity_type: string };

// Told apart in light and dark, also by those who see red and green alike.
const COLORS = ["#5b7fe5", "#2a9d8f", "#d98324", "#a45bc7", "#c9536b", "#4f8f3a", "#8a7350", "#3b94b8", "#b0862b", "#6f6bd8"];
const colors = new Map<string, string>();

export function colorOf(type: string): string {
  if (!colors.has(type)) {
    let sum = 0;
    for (const character of type) sum = (sum * 31 + character.charCodeAt(0)) >>> 0;
    const free = COLORS.filter((one) => ![...colors.values()].includes(one));
    const from = free.length ? free : COLORS;
    colors.set(type, from[sum % from.length]!);
  }
  return colors.get(type)!;
}

export function newGraph(): Shown {
  return new MultiDirectedGraph<NodeData, EdgeData>();
}

/** Add an entity near another one, or somewhere; `true` if it was not there. */
export function addEntity(graph: Shown, entity: Named, near?: string): boolean {
  if (graph.hasNode(entity.id)) {
    graph.mergeNodeAttributes(entity.id, { label: entity.name, type_: entity.entity_type, color: colorOf(entity.entity_type) });
    return false;
  }
  const from = near && graph.hasNode(near) ? graph.getNodeAttributes(near) : { x: 0, y: 0 };
  const spread = near ? 8 : 60;
  graph.addNode(entity.id, {
    label: entity.name,
    type_: entity.entity_type,
    size: 5,
    x: from.x + (Math.random() - 0.5) * spread,
    y: from.y + (Math.random() - 0.5) * spread,
    color: colorOf(entity.entity_type),
    degree: 0,
    expanded: false,
  });
  return true;
}

/** Relations name their ends; the graph knows ids. */
export function addRelations(graph: Shown, relations: Relation[]): void {
  const byName = new Map<string, string>();
  graph.forEachNode((id, { label }) => byName.has(label) || byName.set(label, id));
  for (const relation of relations) {
    const source = byName.get(relation.source);
    const target = byName.get(relation.target);
    if (!source || !target) continue;
    const data: EdgeData = {
      label: relation.relation_type,
      strength: relation.strength,
      ended: relation.ended_at !== null,
      size: 0.6 + relation.strength * 1.6,
      relation,
    };
    if (graph.hasEdge(relation.id)) graph.replaceEdgeAttributes(relation.id, data);
    else graph.addEdgeWithKey(relation.id, source, target, data);
  }
  graph.updateEachNodeAttributes((id, data) => {
    const degree = graph.degree(id);
    return { ...data, degree, size: 4 + Math.min(14, Math.sqrt(degree) * 2.2) };
  });
}
