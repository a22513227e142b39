import { useQuery } from "@tanstack/react-query";
import { useProject } from "@/app/project";
import { client, data, type Schemas } from "./client";

export type Citation = Schemas["Citation"];

/** An answer of quotations with numbered citations; `found` is false if nothing stored answers the question. */
export function useAnswer(question: string, isWithOutside: boolean) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "ask", question, isWithOutside],
    enabled: question !== "",
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      data(
        client.POST("/api/v1/projects/{project}/ask", {
          params: { path: { project } },
          body: { question, limit: 8, tainted: isWithOutside },
          signal,
        }),
      ),
  });
}
