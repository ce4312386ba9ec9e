/** The REST API, typed by its own OpenAPI document: a renamed field does not compile. */
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "../api/schema";
import { session } from "./session.svelte";

export type Schemas = components["schemas"];

/** A failure that the API explained. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
  ) {
    super(detail);
  }
}

export function headers(): Record<string, string> {
  return {
    "x-memory-client": "page",
    // Looking at memories on this page does not make them stronger: only assistants' use counts.
    "x-memory-record": "no",
    ...(session.space ? { "x-memory-space": encodeHeader(session.space) } : {}),
    ...(session.csrf ? { "x-csrf-token": session.csrf } : {}),
  };
}

/** Headers carry bytes; the server reads them as UTF-8. */
function encodeHeader(value: string): string {
  return String.fromCharCode(...new TextEncoder().encode(value));
}

const always: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(headers())) request.headers.set(name, value);
    return request;
  },
  async onResponse({ response }) {
    if (response.ok || response.status === 303) return response;
    throw await problemOf(response);
  },
  onError({ error }) {
    if (error instanceof DOMException && error.name === "AbortError") return error;
    return error instanceof Problem ? error : new Problem(0, "unreachable", "The server cannot be reached.");
  },
};

export async function problemOf(response: Response): Promise<Problem> {
  const body = await response.json().catch(() => ({}));
  if (response.status === 401) session.status = "login_needed";
  return new Problem(response.status, body.code ?? "internal", body.detail ?? response.statusText);
}

export const api = createClient<paths>({ baseUrl: "" });
api.use(always);

/** The body of an answer; failures were thrown before. */
export async function got<T>(answer: Promise<{ data?: T }>): Promise<T> {
  return (await answer).data as T;
}

export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
