import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useProject } from "@/app/project";
import { client, data, type Schemas } from "./client";
import { ProblemError } from "./problems";

export type FileMap = Schemas["FileMapAnswer"];
export type Impact = Schemas["ImpactAnswer"];

const isMissing = (error: unknown) => error instanceof ProblemError && error.status === 404;

/** Every indexed file with its module, memories and changes; null if nothing is indexed. */
export function useFileMap() {
  const project = useProject();
  return useQuery({
    queryKey: [project, "code", "files"],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/code/files", { params: { path: { project } }, signal })).catch((error: unknown) => {
        if (isMissing(error)) return null;
        throw error;
      }),
  });
}

/** What breaks if a file or definition changes. */
export function useImpact(node: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "code", "impact", node],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/code/impact", { params: { path: { project }, query: { node, cap: 200 } }, signal })),
  });
}

/** Files that change together with a file. */
export function useRelatedFiles(path: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "code", "related", path],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/code/related", { params: { path: { project }, query: { path, limit: 12 } }, signal })),
  });
}

/** Index the repository that the server runs in. */
export function useIndexCode() {
  const project = useProject();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: () => data(client.POST("/api/v1/projects/{project}/code/index", { params: { path: { project } }, body: { history: true } })),
    onSuccess: () => cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === project && ["code", "overview"].includes(String(queryKey[1])) }),
  });
}
