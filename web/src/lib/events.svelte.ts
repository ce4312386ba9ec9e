/** The event stream: what anybody changes, as it changes. Reconnects, and misses nothing while it does. */
import { headers } from "./api";
import { session } from "./session.svelte";

export type Told = { id: number; name: string; data: Record<string, unknown> };
type Listener = (event: Told) => void;

const listeners = new Set<Listener>();

class Stream {
  live = $state(false);
}

export const stream = new Stream();
let following: AbortController | undefined;

/** Call `listener` for every event until the returned function is called. */
export function onEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follow the events of the current space, in place of the one followed before. */
export function follow(): () => void {
  following?.abort();
  const mine = (following = new AbortController());
  void keepReading(mine.signal);
  return () => mine.abort();
}

async function keepReading(signal: AbortSignal): Promise<void> {
  let last: number | undefined;
  for (let wait = 500; !signal.aborted; wait = Math.min(wait * 2, 15_000)) {
    try {
      for await (const event of read(signal, last)) {
        last = event.id;
        for (const listener of listeners) listener(event);
      }
      wait = 500;
    } catch {
      // Reported by `live`; the next round tries again.
    }
    stream.live = false;
    if (session.status === "login_needed") return;
    await new Promise((done) => setTimeout(done, wait));
  }
}

async function* read(signal: AbortSignal, last: number | undefined): AsyncGenerator<Told> {
  const place: Record<string, string> = last === undefined ? {} : { "last-event-id": String(last) };
  const answer = await fetch("/api/events", { headers: { ...headers(), ...place }, signal });
  if (answer.status === 401) session.status = "login_needed";
  if (!answer.ok || !answer.body) throw new Error(String(answer.status));
  stream.live = true;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    pending += value;
    const blocks = pending.split("\n\n");
    pending = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parsed(block);
      if (event) yield event;
    }
  }
}

function parsed(block: string): Told | undefined {
  const fields = new Map(
    block
      .split("\n")
      .filter((line) => line && !line.startsWith(":"))
      .map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const data = fields.get("data");
  if (!data) return undefined;
  return { id: Number(fields.get("id")), name: fields.get("event") ?? "", data: JSON.parse(data) };
}
