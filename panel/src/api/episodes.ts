import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useProject } from "@/app/project";
import { client, data, type Schemas } from "./client";

export type Episode = Schemas["Episode"];
export type OutcomeStatus = Schemas["OutcomeStatus"];

const PAGE = 50;
const TREND_DAYS = 84;
const DAYS_OF_PERIOD = 7;
const ANY = { sessions: [], task_types: [], statuses: [], tools: [], strategies: [], tags: [], failures: [] };

export interface EpisodeFilter {
  outcomes: OutcomeStatus[];
  domains: string[];
}

/** Episodes by their fields, newest first, page by page. */
export function useEpisodes(filter: EpisodeFilter, isEnabled = true) {
  const project = useProject();
  const query = useInfiniteQuery({
    queryKey: [project, "episodes", "list", filter],
    enabled: isEnabled,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      data(
        client.GET("/api/v1/projects/{project}/episodes", {
          params: { path: { project }, query: { ...filter, limit: PAGE, total: pageParam === undefined, ...(pageParam && { after: pageParam }) } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const pages = query.data?.pages;
  const episodes = useMemo(() => pages?.flatMap((page) => page.items) ?? [], [pages]);
  return { ...query, episodes, total: pages?.[0]?.total ?? undefined };
}

/** Episodes that a text describes, best first. */
export function useEpisodeSearch(query: string, filter: EpisodeFilter) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "episodes", "search", query, filter],
    enabled: query !== "",
    queryFn: ({ signal }) =>
      data(
        client.POST("/api/v1/projects/{project}/episodes/search", {
          params: { path: { project } },
          body: { query, where: { ...ANY, ...filter }, limit: PAGE, cold: false, by_meaning: true },
          signal,
        }),
      ),
  });
}

export function useEpisode(id: string | undefined) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "episodes", "one", id],
    enabled: id !== undefined,
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/episodes/{id}", { params: { path: { project, id: id! } }, signal })),
  });
}

/** Numbers of episodes and successes of each week, by domain. */
export function useEpisodeTrend() {
  const project = useProject();
  return useQuery({
    queryKey: [project, "episodes", "trend"],
    queryFn: ({ signal }) =>
      data(
        client.GET("/api/v1/projects/{project}/episodes/trend", {
          params: { path: { project }, query: { days: TREND_DAYS, every: DAYS_OF_PERIOD, by: "domain" } },
          signal,
        }),
      ),
  });
}

/** Episodes with this failure or a similar one, and how they recovered. */
export function useSimilarFailures(error: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "episodes", "failures", error],
    enabled: error.trim() !== "",
    queryFn: ({ signal }) =>
      data(
        client.POST("/api/v1/projects/{project}/episodes/similar-failures", {
          params: { path: { project } },
          body: { error, limit: 8 },
          signal,
        }),
      ),
  });
}
