import { Clock3, FolderOpen, ListTree, MessagesSquare } from "lucide-react";
import { Link } from "wouter";
import type { Episode } from "@/api/episodes";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { useT } from "@/i18n";
import styles from "./Episodes.module.css";

/** When, where and how long an episode ran, and what it used. */
export function EpisodeFacts({ episode }: { episode: Episode }) {
  const { t, tn, ago, dateTime } = useT();
  const project = useProject();
  const { domain, task_type: taskType } = episode.metadata;
  const duration = useDuration(episode.execution.duration_ms);
  const instances = episode.consolidation?.instances ?? 0;
  return (
    <ul className={styles.facts} aria-label={t("provenance.title")}>
      <li>
        <time dateTime={episode.at} title={dateTime(episode.at)}>
          {ago(episode.at)}
        </time>
      </li>
      {episode.session && (
        <li>
          <MessagesSquare aria-hidden size={13} />
          <Link href={pagePath(project, "sessions", { id: episode.session })} className={styles.quiet}>
            {episode.session}
          </Link>
        </li>
      )}
      {(domain || taskType) && (
        <li>
          <FolderOpen aria-hidden size={13} />
          {[domain, taskType].filter(Boolean).join(" · ")}
        </li>
      )}
      {episode.execution.trace.length > 0 && (
        <li>
          <ListTree aria-hidden size={13} />
          {tn("episodes.steps", episode.execution.trace.length)}
        </li>
      )}
      {duration && (
        <li>
          <Clock3 aria-hidden size={13} />
          {duration}
        </li>
      )}
      {instances > 1 && <li>{tn("episodes.instances", instances)}</li>}
    </ul>
  );
}

export function useDuration(milliseconds: number | null): string {
  const { number } = useT();
  if (milliseconds === null) return "";
  const seconds = milliseconds / 1000;
  const [value, unit] = seconds < 90 ? [seconds, "second"] : seconds < 5400 ? [seconds / 60, "minute"] : [seconds / 3600, "hour"];
  return number(value as number, { style: "unit", unit: unit as string, unitDisplay: "short", maximumFractionDigits: unit === "hour" ? 1 : 0 });
}
