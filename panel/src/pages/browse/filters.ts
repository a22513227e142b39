import { useMemo } from "react";
import { useSearchParams } from "wouter";
import type { Schemas } from "@/api/client";
import type { Knowledge, RecordFilter } from "@/api/records";
import type { SearchRequest } from "@/api/search";

export const STATUSES = ["confirmed", "pinned", "needs_review", "flagged", "tainted", "stale", "superseded", "forgotten"] as const;
export const SORTS = ["created_at", "updated_at", "last_accessed_at", "confidence", "access_count"] as const;
export const TIMES = { any: 0, day: 1, week: 7, month: 30, quarter: 90 } as const;
export const CONFIDENCES = ["0", "0.5", "0.65", "0.8", "0.9"] as const;
export const TYPES = [
  "fact", "decision", "preference", "requirement", "gotcha", "error_pattern", "dead_end", "pattern", "workflow_recipe", "module_insight",
  "causal_dependency", "prefetch_pattern", "task_calibration", "e2e_observation", "work_state", "work_unit_outcome", "context_cost", "reflection",
] as const;
export const SOURCES = ["user_taught", "agent_explicit", "observer_inferred", "qa_auto", "mcp_auto", "commit_auto", "consolidation"] as const;

export type Status = (typeof STATUSES)[number];
export type Sort = (typeof SORTS)[number];
export type Time = keyof typeof TIMES;
type Source = Schemas["Source"];

/** What the page shows, as in its address. */
export interface Browsing {
  query: string;
  types: string[];
  sources: Source[];
  statuses: Status[];
  files: string[];
  modules: string[];
  tags: string[];
  sessions: string[];
  confidence: string;
  time: Time;
  sort: Sort;
  isAscending: boolean;
  /** Id of the open record. */
  record: string | undefined;
}

const LISTS = { types: "type", sources: "source", statuses: "status", files: "file", modules: "module", tags: "tag", sessions: "session" } as const;

/** The filters of the page, kept in the address so that a link and the back button restore them. */
export function useBrowsing(): [Browsing, (changes: Partial<Browsing>) => void] {
  const [parameters, setParameters] = useSearchParams();
  const text = parameters.toString();
  const browsing = useMemo(() => read(new URLSearchParams(text)), [text]);
  const change = (changes: Partial<Browsing>) =>
    setParameters((before) => written({ ...read(before), ...changes }), { replace: !("record" in changes) });
  return [browsing, change];
}

function read(parameters: URLSearchParams): Browsing {
  const list = (name: string) => parameters.getAll(name);
  const one = <T extends string>(name: string, known: readonly T[], fallback: T) => known.find((each) => each === parameters.get(name)) ?? fallback;
  const query = parameters.get("q") ?? "";
  return {
    query: query.trim() === "" ? "" : query,
    types: list("type"),
    sources: list("source").filter((each): each is Source => (SOURCES as readonly string[]).includes(each)),
    statuses: list("status").filter((each): each is Status => (STATUSES as readonly string[]).includes(each)),
    files: list("file"),
    modules: list("module"),
    tags: list("tag"),
    sessions: list("session"),
    confidence: one("confidence", CONFIDENCES, "0"),
    time: one("time", Object.keys(TIMES) as Time[], "any"),
    sort: one("sort", SORTS, "created_at"),
    isAscending: parameters.get("order") === "up",
    record: parameters.get("record") ?? undefined,
  };
}

function written(browsing: Browsing): URLSearchParams {
  const parameters = new URLSearchParams();
  if (browsing.query) parameters.set("q", browsing.query);
  for (const [field, name] of Object.entries(LISTS)) {
    for (const value of browsing[field as keyof typeof LISTS]) parameters.append(name, value);
  }
  if (browsing.confidence !== "0") parameters.set("confidence", browsing.confidence);
  if (browsing.time !== "any") parameters.set("time", browsing.time);
  if (browsing.sort !== "created_at") parameters.set("sort", browsing.sort);
  if (browsing.isAscending) parameters.set("order", "up");
  if (browsing.record) parameters.set("record", browsing.record);
  return parameters;
}

/** Beginning of the chosen time, at midnight, so that the same filter is the same request. */
function since(time: Time): string | undefined {
  if (time === "any") return undefined;
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - TIMES[time]);
  return day.toISOString();
}

function shared(browsing: Browsing) {
  const from = since(browsing.time);
  return {
    types: browsing.types,
    tags: browsing.tags,
    files: browsing.files,
    modules: browsing.modules,
    sessions: browsing.sessions,
    ...(from && { since: from }),
    ...(browsing.confidence !== "0" && { min_confidence: Number(browsing.confidence) }),
  };
}

/** States that are set by a filter; superseded records are left out unless they are asked for. */
function states(browsing: Browsing) {
  const chosen = Object.fromEntries(browsing.statuses.filter((each) => each !== "forgotten").map((each) => [each, true]));
  const showsOld = browsing.statuses.includes("superseded") || browsing.statuses.includes("forgotten");
  return { ...(showsOld ? {} : { superseded: false }), ...chosen };
}

export function listFilter(browsing: Browsing): RecordFilter {
  return {
    ...shared(browsing),
    ...states(browsing),
    sources: browsing.sources,
    forgotten: browsing.statuses.includes("forgotten"),
    order: browsing.sort,
    descending: !browsing.isAscending,
  };
}

/** The filter for forgetting; null if nothing is chosen, because that would forget everything. */
export function forgetFilter(browsing: Browsing): Schemas["RecordFilter"] | null {
  const isChosen = hasFilters({ ...browsing, statuses: browsing.statuses.filter((each) => each !== "forgotten") });
  if (!isChosen || browsing.statuses.includes("forgotten")) return null;
  return { ...shared(browsing), ...states(browsing), sources: browsing.sources } as Schemas["RecordFilter"];
}

export function searchRequest(browsing: Browsing, query: string): SearchRequest {
  const { statuses } = browsing;
  return {
    query,
    limit: 100,
    code: false,
    superseded: statuses.includes("superseded") || statuses.includes("flagged"),
    where: { kinds: ["knowledge"], ...shared(browsing), ...(statuses.includes("tainted") && { tainted: true }) },
  } as SearchRequest;
}

const HAS_STATUS: Record<Status, (record: Knowledge) => boolean> = {
  confirmed: (record) => record.user_verified,
  pinned: (record) => record.pinned,
  needs_review: (record) => record.needs_review,
  flagged: (record) => record.flagged,
  tainted: (record) => record.tainted,
  stale: (record) => record.stale_at !== null,
  superseded: (record) => record.deprecated_at !== null,
  forgotten: (record) => record.deleted_at !== null,
};

/** Filters that the search does not have. */
export function passes(record: Knowledge, browsing: Browsing): boolean {
  const fromSource = browsing.sources.length === 0 || browsing.sources.includes(record.source);
  return fromSource && browsing.statuses.every((status) => HAS_STATUS[status](record));
}

export function hasFilters(browsing: Browsing): boolean {
  const lists = Object.keys(LISTS) as (keyof typeof LISTS)[];
  return lists.some((each) => browsing[each].length > 0) || browsing.confidence !== "0" || browsing.time !== "any";
}

export const NO_FILTERS: Partial<Browsing> = {
  types: [], sources: [], statuses: [], files: [], modules: [], tags: [], sessions: [], confidence: "0", time: "any",
};
