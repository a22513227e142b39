import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useProject } from "@/app/project";
import { client, data, type Schemas } from "./client";

export type Trust = Schemas["TrustAnswer"];
export type TrustLevel = Schemas["TrustLevel"];
export type SettingValue = Schemas["SettingValue"];

/** The trust level of the project, and the evidence for the next one. */
export function useTrust() {
  const project = useProject();
  return useQuery({
    queryKey: [project, "trust"],
    queryFn: ({ signal }) => data(client.GET("/api/v1/projects/{project}/trust", { params: { path: { project } }, signal })),
  });
}

export function useSetTrust() {
  const project = useProject();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (level: TrustLevel) =>
      data(client.PUT("/api/v1/projects/{project}/trust", { params: { path: { project } }, body: { level } })),
    onSuccess: (trust) => {
      cache.setQueryData([project, "trust"], trust);
      void cache.invalidateQueries({ queryKey: [project, "review"] });
    },
  });
}

export function useSettings() {
  const project = useProject();
  return useQuery({
    queryKey: [project, "settings"],
    queryFn: ({ signal }) => data(client.GET("/api/v1/projects/{project}/settings", { params: { path: { project } }, signal })),
  });
}
