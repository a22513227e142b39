import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useProject } from "@/app/project";
import { useToasts } from "@/components/Toasts";
import { useT } from "@/i18n";
import { client, data, ifMatch, type Schemas } from "./client";
import { useForgetMany } from "./forget";
import { refreshRecords } from "./recordActions";
import type { Knowledge } from "./records";

export type Review = Schemas["SessionReviewAnswer"];

/** Everything that waits for a decision, or the new records of one session. */
export function useReview(session: string | undefined, every: boolean) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "review", session ?? "", every],
    queryFn: ({ signal }) =>
      session === undefined
        ? data(client.GET("/api/v1/projects/{project}/review", { params: { path: { project }, query: { every } }, signal }))
        : data(
            client.GET("/api/v1/projects/{project}/sessions/{id}/review", {
              params: { path: { project, id: session }, query: { every } },
              signal,
            }),
          ),
  });
}

/** Confirm many records one by one; a failure stops it and is shown. */
export function useConfirmMany(): (records: readonly Knowledge[]) => Promise<void> {
  const { t, tn } = useT();
  const project = useProject();
  const cache = useQueryClient();
  const toasts = useToasts();
  const { restore } = useForgetMany();
  return async (records) => {
    const done: string[] = [];
    try {
      for (const { id, version } of records) {
        const params = { path: { project, id }, header: ifMatch(version) };
        await client.POST("/api/v1/projects/{project}/records/{id}/confirm", { params });
        done.push(id);
      }
    } catch (error) {
      toasts.fail(t("review.confirm_failed"), error);
    }
    if (done.length > 0) toasts.show(tn("review.confirmed", done.length), () => void restore(done).catch((error: unknown) => toasts.fail(t("actions.undo_failed"), error)));
    await refreshRecords(cache, project);
  };
}
