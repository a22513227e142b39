import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useProject } from "@/app/project";
import { client, data, type Schemas } from "./client";
import type { operations } from "./schema";

export type Knowledge = Schemas["Knowledge"];
export type RecordFilter = NonNullable<operations["list_records"]["parameters"]["query"]>;

const PAGE = 200;

/** Records by their fields, page by page. */
export function useRecords(filter: RecordFilter, isEnabled = true) {
  const project = useProject();
  const query = useInfiniteQuery({
    queryKey: [project, "records", filter],
    enabled: isEnabled,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      data(
        client.GET("/api/v1/projects/{project}/records", {
          params: { path: { project }, query: { ...filter, limit: PAGE, total: pageParam === undefined, ...(pageParam && { after: pageParam }) } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const pages = query.data?.pages;
  const records = useMemo(() => pages?.flatMap((page) => page.items) ?? [], [pages]);
  return { ...query, records, total: pages?.[0]?.total ?? undefined };
}

export type FoundRecord = NonNullable<ReturnType<typeof useRecord>["data"]>;

/** One record of any kind by its id. */
export function useRecord(id: string | undefined) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "records", "one", id],
    enabled: id !== undefined,
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/records/{id}", { params: { path: { project, id: id! } }, signal })),
  });
}

export function useHistory(id: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "history", id],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/records/{id}/history", { params: { path: { project, id } }, signal })),
  });
}
