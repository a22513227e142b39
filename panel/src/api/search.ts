import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useProject } from "@/app/project";
import { client, data, type Schemas } from "./client";

export type SearchRequest = Schemas["SearchRequest"];
export type SearchHit = Schemas["SearchHit"];

/** The same search, with the same ranking, as in the library and on the command line. */
export function useSearch(request: SearchRequest, isEnabled = true) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "search", request],
    enabled: isEnabled,
    queryFn: ({ signal }) =>
      data(client.POST("/api/v1/projects/{project}/search", { params: { path: { project } }, body: request, signal })),
    placeholderData: keepPreviousData,
  });
}
