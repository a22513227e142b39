import type { Schemas } from "@/api/client";
import type { FoundRecord } from "@/api/records";
import { pagePath } from "./pages";

/** The page on which a record is shown with everything around it; undefined if no page shows its kind. */
export function recordPath(project: string, { kind, record }: FoundRecord): string | undefined {
  if (kind === "knowledge") return pagePath(project, "browse", { record: record.id });
  if (kind === "episode") return pagePath(project, "episodes", { episode: record.id });
  if (kind === "pattern") return pagePath(project, "episodes", { tab: "patterns", pattern: record.id });
  const { session } = record as Schemas["Turn"];
  return session ? pagePath(project, "sessions", { id: session }) : undefined;
}
