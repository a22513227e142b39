import createClient, { type Middleware } from "openapi-fetch";
import { offlineProblem, ProblemError, problemOfResponse } from "./problems";
import type { components, paths } from "./schema";
import { connection } from "./connection";

export type Schemas = components["schemas"];

const WRITES = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** Writes carry a key, so that a repetition after a lost answer is not carried out twice. */
const middleware: Middleware = {
  onRequest({ request }) {
    if (WRITES.has(request.method) && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", newKey());
    }
    return request;
  },
  async onResponse({ request, response }) {
    connection.answered();
    if (response.ok || response.status === 304) return response;
    if (response.status === 401) connection.signedOut();
    throw new ProblemError(await problemOfResponse(response, new URL(request.url).pathname));
  },
  onError({ request, error }) {
    if (error instanceof DOMException && error.name === "AbortError") return error;
    connection.failed();
    return new ProblemError(offlineProblem(new URL(request.url).pathname));
  },
};

export const client = createClient<paths>({
  baseUrl: "",
  querySerializer: { array: { style: "form", explode: true } },
  // Read at the time of each call, so that tests can replace it.
  fetch: (request) => globalThis.fetch(request),
});
client.use(middleware);

/** The data of an answer; failures were thrown as `ProblemError`. */
export async function data<T>(answer: Promise<{ data?: T; error?: unknown }>): Promise<T> {
  return (await answer).data as T;
}

export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The `If-Match` header for a change that is based on this version. */
export function ifMatch(version: number | undefined): { "If-Match"?: string } {
  return version === undefined ? {} : { "If-Match": `"v${version}"` };
}
