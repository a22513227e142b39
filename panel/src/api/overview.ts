import { useQuery } from "@tanstack/react-query";
import { useProject } from "@/app/project";
import { client, data } from "./client";

/** Score with its parts, coverage of the code, and activity of the last days. */
export function useOverview() {
  const project = useProject();
  return useQuery({
    queryKey: [project, "overview"],
    queryFn: ({ signal }) => data(client.GET("/api/v1/projects/{project}/overview", { params: { path: { project } }, signal })),
  });
}
