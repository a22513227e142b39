import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useProject } from "@/app/project";
import { client, data, type Schemas } from "./client";

export type Job = Schemas["Job"];
export type JobState = Schemas["JobState"];
export type Run = Schemas["Run"];
export type AuditEntry = Schemas["AuditEntry"];
export type AuditAction = Schemas["Action"];

/** Stage of the daily runs that count the tokens of the language model. */
export const LANGUAGE_MODEL = "language model";

/** Jobs in any of the states, newest first. */
export function useJobs(states: readonly JobState[], limit = 50) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "jobs", states, limit],
    queryFn: ({ signal }) =>
      data(
        client.GET("/api/v1/projects/{project}/jobs", {
          params: { path: { project }, query: { states: [...states], limit, total: true } },
          signal,
        }),
      ),
  });
}

export function useStages() {
  const project = useProject();
  return useQuery({
    queryKey: [project, "runs", "stages"],
    queryFn: ({ signal }) => data(client.GET("/api/v1/projects/{project}/maintenance/stages", { params: { path: { project } }, signal })),
  });
}

/** Runs of maintenance stages, newest first; `stages` empty: of all. */
export function useRuns(stages: readonly string[], limit: number) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "runs", "list", stages, limit],
    queryFn: ({ signal }) =>
      data(
        client.GET("/api/v1/projects/{project}/maintenance/runs", {
          params: { path: { project }, query: { stages: [...stages], limit } },
          signal,
        }),
      ),
  });
}

/** Run one stage now, or all of them. */
export function useRunStages() {
  const project = useProject();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (stage: string | null) =>
      data(client.POST("/api/v1/projects/{project}/maintenance/runs", { params: { path: { project } }, body: { stage, dry_run: false } })),
    onSettled: () => cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === project }),
  });
}

export function useBackup() {
  const project = useProject();
  return useMutation({
    mutationFn: () => data(client.POST("/api/v1/projects/{project}/backup", { params: { path: { project } } })),
  });
}

/** The audit log, newest first, page by page. */
export function useAudit(actions: readonly AuditAction[]) {
  const project = useProject();
  const query = useInfiniteQuery({
    queryKey: [project, "audit", actions],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      data(
        client.GET("/api/v1/projects/{project}/audit", {
          params: { path: { project }, query: { actions: [...actions], limit: 50, ...(pageParam && { after: pageParam }) } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const pages = query.data?.pages;
  const entries = useMemo(() => pages?.flatMap((page) => page.items) ?? [], [pages]);
  return { ...query, entries };
}
