/** Who uses the page, in which space, and whether they must log in first. */
import { afterwards, recentAhead } from "./early";

type Status = "open" | "logged_in" | "login_needed" | "unreachable";

/** Whether the last visit was let in: then this one is shown at once, and asked to log in if that has changed. */
const WAS_INSIDE = "was_inside";

class Session {
  status = $state<Status>(localStorage.getItem(WAS_INSIDE) ? "open" : "unreachable");
  client = $state("");
  rights = $state<"read" | "write">("write");
  /** The space that was chosen; empty for the server's default. */
  space = $state(localStorage.getItem("space") ?? "");
  /** The space that requests without a choice go to. */
  home = $state("");
  csrf = $state("");
  version = $state("");
  message = $state("");

  get mayWrite(): boolean {
    return this.rights === "write";
  }
}

export const session = new Session();

/** Exchange a one-time code of `mcp-memory open` for a login, then see who we are. */
export async function begin(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code) {
    history.replaceState(null, "", location.pathname);
    await logIn({ code }).catch((error: Error) => (session.message = error.message));
  }
  // Who was let in before is let in again at once, and asked to log in if that has changed.
  if (!code && session.status === "open") afterwards(() => void refresh());
  else await refresh();
}

export async function refresh(): Promise<void> {
  try {
    const answer = await fetch("/api/session", { headers: { "x-memory-client": "page" } });
    const told = await answer.json();
    Object.assign(session, {
      status: told.status,
      client: told.client,
      rights: told.rights,
      home: told.space,
      csrf: told.csrf_token ?? "",
      version: told.version,
    });
    if (session.status === "login_needed") localStorage.removeItem(WAS_INSIDE);
    else localStorage.setItem(WAS_INSIDE, "yes");
  } catch {
    session.status = "unreachable";
  }
}

export async function logIn(how: { token: string } | { code: string }): Promise<void> {
  void recentAhead(); // it was refused
  const answer = await fetch("/api/session", {
    method: "POST",
    headers: { "content-type": "application/json", ...(session.csrf ? { "x-csrf-token": session.csrf } : {}) },
    body: JSON.stringify(how),
  });
  if (!answer.ok) throw new Error((await answer.json()).detail ?? "The login failed.");
  await refresh();
}

export async function logOut(): Promise<void> {
  await fetch("/api/session", { method: "DELETE", headers: { "x-csrf-token": session.csrf } });
  await refresh();
}

export function choose(space: string): void {
  session.space = space;
  localStorage.setItem("space", space);
}
