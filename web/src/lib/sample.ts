/** A small invented life to play with. Everything in it is marked, so that one click removes it. */
import { api, got } from "./api";

export const MARK = "sample";

const ENTITIES: [name: string, type: string, observations: string[]][] = [
  ["Ana Ruiz", "person", ["Designs the harbour sensors", "Prefers short messages in Spanish", "Lives in Valparaíso, works from 8 to 4"]],
  ["Ben Okafor", "person", ["Maintains the data pipeline", "Is allergic to peanuts", "Joined the team in March"]],
  ["Mika Laine", "person", ["Runs the field tests", "Takes the night train to Turku on Thursdays"]],
  ["Tidewatch", "project", ["Measures water levels in twelve harbours", "The first public release is planned for May", "Budget was raised to 84,000 euros"]],
  ["Sensor hub", "component", ["Speaks MQTT on port 8883", "Firmware 2.4 fixed the clock drift"]],
  ["Harbour map", "component", ["Drawn with SVG, no map service needed", "Loads 1,900 points in 200 ms"]],
  ["Postgres 18", "technology", ["Stores the measurements, partitioned by month"]],
  ["Port of Turku", "organisation", ["Pilot customer since January", "Wants alerts by SMS"]],
  ["Valparaíso office", "place", ["Third floor, by the funicular"]],
];

const RELATIONS: [source: string, type: string, target: string, strength: number][] = [
  ["Ana Ruiz", "works_on", "Tidewatch", 0.9],
  ["Ben Okafor", "works_on", "Tidewatch", 0.9],
  ["Mika Laine", "tests", "Sensor hub", 0.8],
  ["Ana Ruiz", "designed", "Sensor hub", 0.7],
  ["Tidewatch", "contains", "Sensor hub", 0.9],
  ["Tidewatch", "contains", "Harbour map", 0.8],
  ["Ben Okafor", "maintains", "Postgres 18", 0.6],
  ["Tidewatch", "stores_data_in", "Postgres 18", 0.7],
  ["Port of Turku", "pilots", "Tidewatch", 0.6],
  ["Mika Laine", "visits", "Port of Turku", 0.4],
  ["Ana Ruiz", "based_at", "Valparaíso office", 0.5],
  ["Ben Okafor", "reports_to", "Ana Ruiz", 0.5],
];

const MEMORIES: [content: string, type: string, tags: string[], about: string[], confidence: number, importance: number][] = [
  ["Always answer in British English, and keep code comments short.", "preference", ["style"], [], 1, 0.9],
  ["Never deploy on a Friday after three.", "preference", ["deploy"], ["Tidewatch"], 1, 0.8],
  ["We decided to keep readings for two years, because the port authority asks for it.", "decision", ["data", "legal"], ["Tidewatch", "Port of Turku"], 0.95, 0.8],
  ["The build failed with ENOSPC; clearing the Docker cache fixed it.", "insight", ["build", "fix"], ["Tidewatch"], 0.9, 0.5],
  ["Release 0.9 went out on 3 March with the new alert rules.", "event", ["release"], ["Tidewatch"], 0.85, 0.5],
  ["Ana wants the weekly summary on Monday mornings, five lines at most.", "preference", ["writing"], ["Ana Ruiz"], 1, 0.7],
  ["Goal: all twelve harbours report every minute by the end of April.", "goal", ["milestone"], ["Tidewatch"], 0.9, 0.9],
  ["Todo: ask the Port of Turku for their SMS gateway contract.", "todo", ["follow-up"], ["Port of Turku"], 0.8, 0.6],
  ["The staging server is reached at staging.tidewatch.example.", "fact", ["servers"], ["Tidewatch"], 0.7, 0.5],
  ["Ben found that the clock drift came from a missing NTP server.", "observation", ["fix"], ["Sensor hub", "Ben Okafor"], 0.75, 0.4],
  ["Mika measured a range of 4.2 km with the new antenna.", "observation", ["field test"], ["Mika Laine", "Sensor hub"], 0.6, 0.4],
  ["The harbour map should stay usable without JavaScript.", "decision", ["accessibility"], ["Harbour map"], 0.9, 0.6],
];

const METADATA = { [MARK]: true };

/** How many requests it takes; `tell` hears after each how many are done. */
export async function add(tell: (done: number, total: number) => void): Promise<void> {
  const total = ENTITIES.length + RELATIONS.length + MEMORIES.length;
  let done = 0;
  for (const [name, entity_type, observations] of ENTITIES) {
    await got(api.POST("/api/entities", { body: { name, entity_type, observations, metadata: METADATA } }));
    tell(++done, total);
  }
  for (const [source, relation_type, target, strength] of RELATIONS) {
    await got(api.POST("/api/relations", { body: { source, target, relation_type, strength } }));
    tell(++done, total);
  }
  for (const [content, memory_type, tags, entity_names, confidence, importance] of MEMORIES) {
    await got(
      api.POST("/api/memories", {
        body: { content, memory_type, tags: [...tags, MARK], entity_names, confidence, importance, source: MARK, metadata: METADATA },
      }),
    );
    tell(++done, total);
  }
}

export async function isThere(): Promise<boolean> {
  const found = await got(api.GET("/api/memories", { params: { query: { source: MARK, limit: 1 } } })).catch(() => ({ total: 0 }));
  return found.total > 0;
}

export async function remove(): Promise<void> {
  for (const [name, entity_type] of ENTITIES) {
    const found = await got(api.GET("/api/entities", { params: { query: { name, entity_type, limit: 5 } } }));
    for (const entity of found.items) {
      if (!entity.metadata[MARK]) continue;
      await got(api.DELETE("/api/entities/{which}", { params: { path: { which: entity.id } } }));
    }
  }
  const memories = await got(api.GET("/api/memories", { params: { query: { source: MARK, limit: 200 } } }));
  const ids = memories.items.map((one) => one.id);
  if (ids.length) await got(api.POST("/api/memories/delete", { body: { ids, types: [], dry_run: false } }));
}
