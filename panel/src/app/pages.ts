import { Activity, Clock3, Compass, GitFork, GraduationCap, History, ListChecks, MessageCircleQuestion, Search, type LucideIcon } from "lucide-react";
import { lazy, type ComponentType, type LazyExoticComponent } from "react";
import type { MessageKey } from "@/i18n";

export interface Page {
  /** Last part of the page's path, and prefix of its messages. */
  id: string;
  title: MessageKey;
  icon: LucideIcon;
  /** Second key of the shortcut `g KEY`. */
  key: string;
  component: LazyExoticComponent<ComponentType>;
}

/** The pages in the order of the navigation; the first one is the default. */
export const PAGES: readonly Page[] = [
  { id: "health", title: "nav.health", icon: Activity, key: "h", component: lazy(() => import("@/pages/health/HealthPage")) },
  { id: "browse", title: "nav.browse", icon: Search, key: "b", component: lazy(() => import("@/pages/browse/BrowsePage")) },
  { id: "review", title: "nav.review", icon: ListChecks, key: "r", component: lazy(() => import("@/pages/review/ReviewPage")) },
  { id: "sessions", title: "nav.sessions", icon: Clock3, key: "s", component: lazy(() => import("@/pages/sessions/SessionsPage")) },
  { id: "map", title: "nav.map", icon: Compass, key: "m", component: lazy(() => import("@/pages/map/MapPage")) },
  { id: "time", title: "nav.time", icon: History, key: "t", component: lazy(() => import("@/pages/time/TimePage")) },
  { id: "episodes", title: "nav.episodes", icon: GitFork, key: "e", component: lazy(() => import("@/pages/episodes/EpisodesPage")) },
  { id: "ask", title: "nav.ask", icon: MessageCircleQuestion, key: "a", component: lazy(() => import("@/pages/ask/AskPage")) },
  { id: "teach", title: "nav.teach", icon: GraduationCap, key: "l", component: lazy(() => import("@/pages/teach/TeachPage")) },
];

export function pagePath(project: string, page: string, parameters?: Record<string, string | undefined>): string {
  const given = Object.entries(parameters ?? {}).filter((pair): pair is [string, string] => !!pair[1]);
  const query = new URLSearchParams(given).toString();
  return `/p/${encodeURIComponent(project)}/${page}${query ? `?${query}` : ""}`;
}
