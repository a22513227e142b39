import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { useProject } from "@/app/project";
import { client, data, type Schemas } from "./client";
import type { Knowledge } from "./records";

export type Entity = Schemas["Entity"];
export type EntityProfile = Schemas["EntityProfile"];
export type EntityKind = Schemas["EntityKind"];

/** Entities by number of mentions, or those with these words in a name. */
export function useEntities(name: string, kind: EntityKind | undefined) {
  const project = useProject();
  const query = { limit: 200, ...(name && { name }), ...(kind && { kind }) };
  return useQuery({
    queryKey: [project, "entities", "list", query],
    queryFn: ({ signal }) => data(client.GET("/api/v1/projects/{project}/entities", { params: { path: { project }, query }, signal })),
    placeholderData: keepPreviousData,
  });
}

export function useEntity(name: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "entities", "profile", name],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/entities/{name}", { params: { path: { project, name } }, signal })),
  });
}

/** Current and former facts of an entity, in the order of their beginning. */
export function useEntityFacts(name: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "entities", "facts", name],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/entities/{name}/facts", { params: { path: { project, name } }, signal })),
  });
}

/** The oldest record: the time at which the memory begins; null if it is empty. */
export function useFirstRecord() {
  const project = useProject();
  return useQuery({
    queryKey: [project, "records", "first"],
    staleTime: 300_000,
    queryFn: async ({ signal }) => {
      const query = { order: "created_at" as const, descending: false, limit: 1 };
      const page = await data(client.GET("/api/v1/projects/{project}/records", { params: { path: { project }, query }, signal }));
      return page.items[0] ?? null;
    },
  });
}

/** Records of knowledge by their ids; those that are gone are left out. */
export function useRecordsById(ids: readonly string[]): ReadonlyMap<string, Knowledge> {
  const project = useProject();
  return useQueries({
    queries: ids.map((id) => ({
      queryKey: [project, "records", "one", id],
      retry: false,
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        data(client.GET("/api/v1/projects/{project}/records/{id}", { params: { path: { project, id } }, signal })),
    })),
    combine: (answers) =>
      new Map(
        answers.flatMap(({ data: found }) => (found?.kind === "knowledge" ? [[found.record.id, found.record as Knowledge] as const] : [])),
      ),
  });
}
