import { Clock3 } from "lucide-react";
import { Link } from "wouter";
import { useLatestSessions, type ObservedSession } from "@/api/sessions";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Badge } from "@/components/Badges";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import styles from "./LatestSessions.module.css";

const SHOWN = 6;
const TONES: Record<string, "green" | "red" | "grey"> = { success: "green", failure: "red" };

/** The last sessions, with how they ended and what was learned. */
export function LatestSessions() {
  const { t } = useT();
  const sessions = useLatestSessions(SHOWN);
  if (sessions.isError) return <ProblemView error={sessions.error} />;
  if (!sessions.data) return <Skeleton lines={4} />;
  if (sessions.data.items.length === 0) {
    return (
      <EmptyState icon={Clock3} title={t("health.no_sessions")}>
        {t("health.no_sessions_todo")} <code>treering init</code>
      </EmptyState>
    );
  }
  return (
    <ul className={styles.list}>
      {sessions.data.items.map((session) => (
        <SessionRow key={session.id} session={session} />
      ))}
    </ul>
  );
}

function SessionRow({ session }: { session: ObservedSession }) {
  const { t, tn, label, ago, dateTime } = useT();
  const project = useProject();
  const learned = session.candidates.filter((each) => each.decision !== "rejected").length;
  const outcome = session.outcome ?? "running";
  return (
    <li className={styles.row}>
      <Badge tone={TONES[outcome] ?? "grey"}>{label("outcome", outcome)}</Badge>
      <Link href={pagePath(project, "sessions", { id: session.id })} className={styles.prompt}>
        {session.prompts[0] ?? session.id}
      </Link>
      <span className={styles.meta}>{session.agent ?? session.id}</span>
      <span className={styles.meta}>{tn("health.events", session.events)}</span>
      <span className={styles.meta}>{learned ? tn("sessions.learned", learned) : t("sessions.learned_none")}</span>
      <time className={styles.time} dateTime={session.started_at} title={dateTime(session.started_at)}>
        {ago(session.started_at)}
      </time>
    </li>
  );
}
