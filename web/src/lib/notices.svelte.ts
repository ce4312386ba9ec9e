/** Short messages at the edge of the screen: what was done, with undo where there is one. */
import { api, got, Problem } from "./api";

export type Notice = { id: number; text: string; bad: boolean; action?: { label: string; run: () => void } };

class Notices {
  all = $state<Notice[]>([]);
}

export const notices = new Notices();
let next = 1;

// Milliseconds. What can be undone stays for those who read slowly or reach it by keyboard; it can be dismissed.
const ACT = 45_000;
const READ = 12_000;
const GLANCE = 5000;

export function say(text: string, action?: Notice["action"], bad = false): void {
  const notice: Notice = { id: next++, text, bad, action };
  notices.all.push(notice);
  if (notices.all.length > 4) notices.all.shift();
  setTimeout(() => dismiss(notice.id), action ? ACT : bad ? READ : GLANCE);
}

export function dismiss(id: number): void {
  notices.all = notices.all.filter((one) => one.id !== id);
}

export function complain(error: unknown): void {
  say(error instanceof Error ? error.message : String(error), undefined, true);
}

/** Do something and say so; `true` when it went well. */
export async function attempt(work: () => Promise<string | void>): Promise<boolean> {
  try {
    const done = await work();
    if (done) say(done);
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

/** Say what was done, with a button that takes it back. */
export function sayUndoable(text: string, changeId: string | null, after: () => void = () => {}): void {
  if (!changeId) return say(text);
  say(text, {
    label: "Undo",
    run: () =>
      void attempt(async () => {
        const undone = await got(
          api.POST("/api/changes/{change_id}/undo", { params: { path: { change_id: changeId } } }),
        );
        after();
        return `Undone: ${undone.summary}`;
      }),
  });
}

export { Problem };
