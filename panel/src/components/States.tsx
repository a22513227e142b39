import { CircleAlert, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { problemOf } from "@/api/problems";
import { useT } from "@/i18n";
import { Button } from "./Button";
import styles from "./States.module.css";

interface EmptyStateProps {
  icon: LucideIcon;
  title: string;
  /** What to do now. */
  children?: ReactNode;
  action?: ReactNode;
}

/** Shown where there is nothing yet: says why, and what to do. */
export function EmptyState({ icon: Icon, title, children, action }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      <Icon aria-hidden size={28} strokeWidth={1.5} />
      <p className={styles.title}>{title}</p>
      {children && <div className={styles.text}>{children}</div>}
      {action}
    </div>
  );
}

/** A failure, in the server's own words, with a way to try again. */
export function ProblemView({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { t } = useT();
  const problem = problemOf(error);
  return (
    <div className={styles.problem} role="alert">
      <CircleAlert aria-hidden size={18} />
      <div>
        <p className={styles.title}>{problem.status === 0 ? t("problem.offline") : problem.title}</p>
        <p className={styles.text}>{problem.status === 0 ? t("problem.offline_detail") : problem.detail}</p>
        {problem.errors && problem.errors.length > 1 && (
          <ul className={styles.text}>
            {problem.errors.map((each) => (
              <li key={each.field}>
                <code>{each.field}</code>: {each.reason}
              </li>
            ))}
          </ul>
        )}
        {problem.status > 0 && <p className={styles.code}>{`${problem.status} ${problem.error} ${problem.instance}`}</p>}
      </div>
      {onRetry && (
        <Button size="s" onPress={onRetry}>
          {t("common.retry")}
        </Button>
      )}
    </div>
  );
}

/** Grey lines in the place of what is being loaded. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  const { t } = useT();
  return (
    <div role="status" aria-label={t("common.loading")} className={styles.skeleton}>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} style={{ width: `${92 - ((line * 17) % 40)}%` }} />
      ))}
    </div>
  );
}
