import { keepPreviousData, useInfiniteQuery, useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useProject } from "@/app/project";
import { client, data, type Schemas } from "./client";
import type { operations } from "./schema";

export type ObservedSession = Schemas["ObservedSession"];

/** The newest observed sessions. */
export function useLatestSessions(limit: number) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "sessions", "latest", limit],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/sessions", { params: { path: { project }, query: { limit } }, signal })),
  });
}

export type SessionFilter = Pick<NonNullable<operations["list_sessions"]["parameters"]["query"]>, "types" | "outcomes">;
export type InjectedItem = Schemas["InjectedItem"];
export type TimelineEntry = Schemas["TimelineEntryAnswer"];
export type Candidate = Schemas["Candidate"];

const PAGE = 50;

/** Observed sessions, newest first, page by page. */
export function useSessions(filter: SessionFilter) {
  const project = useProject();
  const query = useInfiniteQuery({
    queryKey: [project, "sessions", "list", filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      data(
        client.GET("/api/v1/projects/{project}/sessions", {
          params: { path: { project }, query: { ...filter, limit: PAGE, ...(pageParam && { after: pageParam }) } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const pages = query.data?.pages;
  return { ...query, sessions: useMemo(() => pages?.flatMap((page) => page.items) ?? [], [pages]) };
}

/** How many items each of these sessions was given unasked, and how many it used. */
export function useGivenCounts(ids: readonly string[]) {
  const project = useProject();
  const batches = Array.from({ length: Math.ceil(ids.length / PAGE) }, (_, at) => ids.slice(at * PAGE, (at + 1) * PAGE));
  return useQueries({
    queries: batches.map((batch) => ({
      queryKey: [project, "sessions", "given", batch],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        data(client.GET("/api/v1/projects/{project}/given", { params: { path: { project }, query: { ids: batch } }, signal })),
    })),
    combine: (answers) => new Map(answers.flatMap((answer) => answer.data ?? []).map((each) => [each.session, each])),
  });
}

/** A session with its records and the fate of every candidate. */
export function useSession(id: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "sessions", "one", id],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/sessions/{id}", { params: { path: { project, id } }, signal })),
  });
}

/** Messages and the latest actions of a session, as far as they are kept. */
export function useTimeline(id: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "sessions", "timeline", id],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/sessions/{id}/timeline", { params: { path: { project, id } }, signal })),
  });
}

/** What a session was given unasked, in order, and whether it used it. */
export function useInjected(id: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "sessions", "injected", id],
    queryFn: ({ signal }) =>
      data(
        client.GET("/api/v1/projects/{project}/sessions/{id}/injected", {
          params: { path: { project, id }, query: { limit: MOST_ITEMS } },
          signal,
        }),
      ),
  });
}

const MOST_ITEMS = 1_000;
