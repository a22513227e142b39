import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useProject } from "@/app/project";
import { client, data, type Schemas } from "./client";
import { refreshRecords } from "./recordActions";

export type ForgetSelection = Pick<Schemas["ForgetRequest"], "where" | "ids">;

/** Which records a selection would forget; nothing is changed. */
export function useForgetPreview(selection: ForgetSelection, isEnabled: boolean) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "records", "forget-preview", selection],
    enabled: isEnabled,
    queryFn: ({ signal }) => sent(project, { ...selection, dry_run: true }, signal),
  });
}

/** Functions that forget a selection, and that restore records. */
export function useForgetMany() {
  const project = useProject();
  const cache = useQueryClient();
  return {
    forgetMany: async (selection: ForgetSelection) => {
      const gone = await sent(project, { ...selection, dry_run: false });
      await refreshRecords(cache, project);
      return gone;
    },
    restore: async (ids: readonly string[]) => {
      const body = { ids: [...ids] };
      await client.POST("/api/v1/projects/{project}/records/undo", { params: { path: { project } }, body });
      await refreshRecords(cache, project);
    },
  };
}

function sent(project: string, body: Schemas["ForgetRequest"], signal?: AbortSignal) {
  return data(client.POST("/api/v1/projects/{project}/records/forget", { params: { path: { project } }, body, ...(signal && { signal }) }));
}
