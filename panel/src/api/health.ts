import { useQuery } from "@tanstack/react-query";
import { useProject } from "@/app/project";
import { client, data } from "./client";

/** Counts of everything, growth, confidence, pending and failed jobs. */
export function useHealth() {
  const project = useProject();
  return useQuery({
    queryKey: [project, "health"],
    queryFn: ({ signal }) => data(client.GET("/api/v1/projects/{project}/health", { params: { path: { project } }, signal })),
  });
}

/** Checks of the memory, with advice for those that fail. */
export function useDoctor() {
  const project = useProject();
  return useQuery({
    queryKey: [project, "doctor"],
    queryFn: ({ signal }) => data(client.GET("/api/v1/projects/{project}/doctor", { params: { path: { project } }, signal })),
    staleTime: 300_000,
  });
}
