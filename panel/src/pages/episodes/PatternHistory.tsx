import { useHistory } from "@/api/records";
import type { Pattern } from "@/api/patterns";
import { Card } from "@/components/Layout";
import { ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import styles from "./Episodes.module.css";

/** Changes of status with their causes, newest first. */
export function PatternHistory({ pattern }: { pattern: Pattern }) {
  const { t, label, dateTime, percent } = useT();
  const history = useHistory(pattern.id);
  const entries = history.data?.entries ?? [];
  return (
    <Card title={t("patterns.history")} span={3}>
      {history.isError && <ProblemView error={history.error} onRetry={() => void history.refetch()} />}
      {history.isPending && <Skeleton />}
      <ol className={styles.history}>
        {entries.map((entry, index) => {
          const { from, to, cause, reason, success_rate: rate } = entry.detail as Record<string, unknown>;
          const statuses = [...new Set([from, to])].filter((each): each is string => typeof each === "string");
          return (
            <li key={index}>
              <time dateTime={entry.at}>{dateTime(entry.at)}</time>
              <div>
                <strong>{statuses.length > 0 ? statuses.map((each) => label("pattern_status", each)).join(" → ") : label("audit_action", entry.action)}</strong>
                {typeof cause === "string" && <span> · {label("cause", cause)}</span>}
                {typeof rate === "number" && <span> · {t("episodes.succeeded", { share: percent(rate) })}</span>}
                {typeof reason === "string" && <p className={styles.note}>{reason}</p>}
              </div>
              <span className={styles.actor}>{entry.actor}</span>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}
