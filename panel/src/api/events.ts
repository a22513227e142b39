import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { connection } from "./connection";
import { ProblemError, problemOfResponse } from "./problems";

const FIRST_DELAY = 1_000;
const LONGEST_DELAY = 15_000;

/** Cached queries that each event makes old, by the second part of their key (`[project, noun, …]`). */
const NOUNS_OF_EVENT: Record<string, readonly string[]> = {
  record: [
    ...["records", "search", "health", "overview", "review", "history", "audit", "entities", "code"],
    ...["episodes", "patterns", "trust"],
  ],
  jobs: ["jobs", "health"],
  runs: ["runs", "health"],
  sessions: ["sessions", "health", "overview", "review", "trust"],
};
const EVENTS = [...Object.keys(NOUNS_OF_EVENT), "reset"];

/** Keeps the cache fresh by the server's events, and the connection state true; reconnects forever. */
export function useServerEvents(project: string): void {
  const cache = useQueryClient();
  useEffect(() => {
    const stream = new EventStream(project, (event) => refresh(cache, project, event));
    const follow = () => (document.visibilityState === "hidden" ? stream.pause() : stream.resume());
    follow();
    document.addEventListener("visibilitychange", follow);
    const unsubscribe = connection.subscribe(() => connection.get() === "offline" && stream.check());
    return () => {
      unsubscribe();
      document.removeEventListener("visibilitychange", follow);
      stream.pause();
    };
  }, [cache, project]);
}

function refresh(cache: QueryClient, project: string, event: string): void {
  const nouns = NOUNS_OF_EVENT[event];
  const isOld = nouns ? (key: readonly unknown[]) => key[0] === project && nouns.includes(String(key[1])) : () => true;
  void cache.invalidateQueries({ predicate: (query) => isOld(query.queryKey) }, { cancelRefetch: false });
}

/**
 * The events of a project while its page is visible. A browser opens only six connections to a server: the streams of
 * tabs in the background would take them all, and nothing would load any more.
 */
class EventStream {
  private source: EventSource | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private delay = FIRST_DELAY;
  private isPaused = true;
  private wasLost = false;

  constructor(
    private readonly project: string,
    private readonly changed: (event: string) => void,
  ) {}

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.open();
  }

  pause(): void {
    this.isPaused = true;
    this.wasLost = true;
    clearTimeout(this.timer);
    this.source?.close();
  }

  /** A request failed: the stream may be dead without knowing it, and only a new one proves that the server is back. */
  check(): void {
    if (this.source && this.source.readyState !== EventSource.CLOSED) void this.lost(this.source);
  }

  private open(): void {
    const source = new EventSource(`/api/v1/projects/${encodeURIComponent(this.project)}/events`);
    this.source = source;
    source.onopen = () => {
      this.delay = FIRST_DELAY;
      connection.answered();
      if (this.wasLost) this.changed("reset");
      this.wasLost = false;
    };
    source.onerror = () => void this.lost(source);
    for (const name of EVENTS) source.addEventListener(name, () => this.changed(name));
  }

  /** An `EventSource` does not say why it failed and gives up on an error status, so the reason is asked for. */
  private async lost(source: EventSource): Promise<void> {
    source.close();
    this.wasLost = true;
    await reportState(source.url);
    if (this.isPaused || source !== this.source || connection.get() === "signed-out") return;
    this.timer = setTimeout(() => this.open(), this.delay);
    this.delay = Math.min(this.delay * 2, LONGEST_DELAY);
  }
}

async function reportState(path: string): Promise<void> {
  try {
    const response = await fetch("/api/v1/server");
    if (response.status === 401) connection.signedOut();
    else if (!response.ok) throw new ProblemError(await problemOfResponse(response, path));
    else connection.answered();
  } catch (error) {
    if (!(error instanceof ProblemError)) connection.failed();
    else if (error.status >= 500) connection.failed();
  }
}

