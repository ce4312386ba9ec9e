/** Finds the change that this page just made, so that it can be taken back. */
import { api, got } from "./api";
import { say, sayUndoable } from "./notices.svelte";
import { session } from "./session.svelte";

/** Say what was done, and offer to take it back. `after` is called once that is done. */
export async function undoable(done: string, after: () => void): Promise<void> {
  const newest = await got(api.GET("/api/changes", { params: { query: { limit: 1 } } })).catch(() => undefined);
  const change = newest?.items[0];
  if (change?.undoable && change.client === session.client) sayUndoable(done, change.change_id, after);
  else say(done);
}
