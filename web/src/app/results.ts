/** What tools answer, as the page's parts take it. */
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { Memory } from "../lib/panel.svelte";

export type Hit = { memory: Memory; score: number; explanation?: Record<string, unknown> };
export type Thing = { id: string; name: string; entity_type: string; observations: string[]; known: boolean };
export type Tie = { id: string; source: string; target: string; relation_type: string; strength: number; ended_at: string | null };
export type Recalled = { kind: "recall"; tool: string; hits: Hit[]; total: number };
export type Around = { kind: "graph"; tool: string; things: Thing[]; ties: Tie[] };
export type Failed = { kind: "failed"; message: string };

type Json = Record<string, any>;

/** The result of whichever tool; its shape says which. */
export function read(result: CallToolResult): Recalled | Around | Failed {
  const said = body(result);
  if (result.isError) return { kind: "failed", message: said.error ?? "The memory could not be asked." };
  if (Array.isArray(said.memories)) {
    const tool = "search_mode" in said ? "recall_memories" : "memory_recall";
    return { kind: "recall", tool, hits: said.memories.map(hit), total: said.total_found ?? said.memories.length };
  }
  if (Array.isArray(said.nodes)) {
    return { kind: "graph", tool: "get_entity_graph", things: said.nodes.map(thing), ties: (said.edges ?? []).map(tie) };
  }
  if (Array.isArray(said.entities)) {
    return { kind: "graph", tool: "open_nodes", things: said.entities.map(thing), ties: (said.relations ?? []).map(tie) };
  }
  return { kind: "failed", message: "This result has nothing to show." };
}

function body(result: CallToolResult): Json {
  if (result.structuredContent) return result.structuredContent;
  const text = result.content.find((part) => part.type === "text");
  try {
    return JSON.parse(text?.text ?? "{}");
  } catch {
    return {};
  }
}

function hit(item: Json): Hit {
  const memory = { ...item, entities: item.entities ?? item.entity_names ?? [], tags: item.tags ?? [] } as unknown as Memory;
  return { memory, score: item.relevance_score ?? item.score ?? 0, explanation: item.explanation };
}

/** Results name entities; so a name is what identifies one here. */
function thing(item: Json): Thing {
  const observations = item.observations ?? item.memories?.map((one: Json) => one.content) ?? [];
  return { id: item.name, name: item.name, entity_type: item.entityType ?? item.entity_type ?? "", observations, known: true };
}

function tie(item: Json): Tie {
  const source = item.from ?? item.source;
  const target = item.to ?? item.target;
  const relation_type = item.relationType ?? item.relation_type;
  return { id: `${source}\n${relation_type}\n${target}`, source, target, relation_type, strength: item.strength ?? 0.5, ended_at: item.ended_at ?? null };
}
