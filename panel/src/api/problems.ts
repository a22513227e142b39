import type { components } from "./schema";

export type Problem = components["schemas"]["Problem"];

/** A failed request, with the problem details that the server gave. Status 0: the server did not answer. */
export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
    this.name = "ProblemError";
  }

  get status(): number {
    return this.problem.status;
  }

  get isOffline(): boolean {
    return this.status === 0;
  }

  /** Whether the record was changed since the version that the request was based on. */
  get isStale(): boolean {
    return this.status === 409 && this.problem.current != null;
  }
}

const EMPTY = { instance: "", errors: [], current: null, based_on: null };

/** Problem details from any failure: an answer of the server, a network error or a bug. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  const detail = error instanceof Error ? error.message : String(error);
  return { ...EMPTY, type: "about:blank", title: "Error", status: -1, detail, error: "PanelError" };
}

export function offlineProblem(path: string): Problem {
  return {
    ...EMPTY,
    type: "urn:treering:problem:Offline",
    title: "The server does not answer",
    status: 0,
    detail: "The server does not answer.",
    instance: path,
    error: "Offline",
  };
}

/** The problem of a failed answer, also if its body is not problem details. */
export async function problemOfResponse(response: Response, path: string): Promise<Problem> {
  const text = await response.clone().text();
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && "detail" in body) return body as Problem;
  } catch {
    // Not JSON: a proxy or the network answered.
  }
  return { ...offlineProblem(path), status: response.status, title: response.statusText, detail: text.slice(0, 300) || response.statusText };
}
