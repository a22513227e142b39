import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useProject } from "@/app/project";
import { client, data } from "./client";

export type Pattern = Awaited<ReturnType<typeof getPattern>>;

const PATTERNS = 200;
const APPLICATIONS = 200;

export function usePatterns() {
  const project = useProject();
  return useQuery({
    queryKey: [project, "patterns", "list"],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/patterns", { params: { path: { project }, query: { limit: PATTERNS } }, signal })),
  });
}

function getPattern(project: string, id: string, signal: AbortSignal) {
  return data(client.GET("/api/v1/projects/{project}/patterns/{id}", { params: { path: { project, id } }, signal }));
}

export function usePattern(id: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "patterns", "one", id],
    queryFn: ({ signal }) => getPattern(project, id, signal),
  });
}

/** Outcomes by session, oldest first. */
export function usePatternSessions(id: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "patterns", "sessions", id],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/patterns/{id}/sessions", { params: { path: { project, id } }, signal })),
  });
}

/** Uses of a pattern, newest first. */
export function useApplications(id: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "patterns", "applications", id],
    queryFn: ({ signal }) =>
      data(
        client.GET("/api/v1/projects/{project}/patterns/{id}/applications", {
          params: { path: { project, id }, query: { limit: APPLICATIONS } },
          signal,
        }),
      ),
  });
}

/** Earlier versions, latest first. */
export function usePatternVersions(id: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "patterns", "versions", id],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/patterns/{id}/versions", { params: { path: { project, id } }, signal })),
  });
}

/** Where a pattern failed, and how it could be narrowed. */
export function usePatternReview(id: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "patterns", "review", id],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/patterns/{id}/review", { params: { path: { project, id } }, signal })),
  });
}

export function useSimilarPatterns(id: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "patterns", "similar", id],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/patterns/{id}/similar", { params: { path: { project, id } }, signal })),
  });
}

/** Judge every pattern by its applications. */
export function useValidatePatterns() {
  return usePatternChange((project) => data(client.POST("/api/v1/projects/{project}/patterns/validate", { params: { path: { project } }, body: { dry_run: false } })));
}

/** Narrow a pattern by the condition that separates its failures. */
export function useRefinePattern(id: string) {
  return usePatternChange((project) =>
    data(client.POST("/api/v1/projects/{project}/patterns/{id}/refine", { params: { path: { project, id } }, body: { dry_run: false } })),
  );
}

export function useDeprecatePattern(id: string) {
  return usePatternChange((project, reason: string) =>
    data(client.POST("/api/v1/projects/{project}/patterns/{id}/deprecate", { params: { path: { project, id } }, body: { reason } })),
  );
}

function usePatternChange<T, A = void>(send: (project: string, argument: A) => Promise<T>) {
  const project = useProject();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (argument: A) => send(project, argument),
    onSettled: () => cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === project && ["patterns", "history"].includes(String(queryKey[1])) }),
  });
}
