import { CircleCheck, CircleX, Flag, History, ListChecks, PlugZap, ShieldAlert, TimerOff, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useDoctor, useHealth } from "@/api/health";
import { useLatestSessions } from "@/api/sessions";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { EmptyState, Skeleton } from "@/components/States";
import { useT, type MessageKey } from "@/i18n";
import styles from "./AttentionList.module.css";

interface StateRow {
  state: string;
  icon: LucideIcon;
  message: "health.flagged" | "health.stale" | "health.review" | "health.tainted";
  status: string;
}

const STATES: readonly StateRow[] = [
  { state: "flagged", icon: Flag, message: "health.flagged", status: "flagged" },
  { state: "needs review", icon: ListChecks, message: "health.review", status: "needs_review" },
  { state: "tainted", icon: ShieldAlert, message: "health.tainted", status: "tainted" },
  { state: "stale", icon: TimerOff, message: "health.stale", status: "stale" },
];
const SILENT_DAYS = 7;
const DAY = 86_400_000;

/** What a person should look at: doubtful records, failed jobs and checks, hooks that report nothing. */
export function AttentionList() {
  const { t, tn } = useT();
  const project = useProject();
  const health = useHealth();
  const doctor = useDoctor();
  const silent = useSilentHooks();
  if (!health.data) return <Skeleton lines={4} />;

  const rows: ReactNode[] = [];
  for (const { state, icon, message, status } of STATES) {
    const count = health.data.states[state] ?? 0;
    if (count > 0) rows.push(<Row key={state} icon={icon} text={tn(message, count)} href={pagePath(project, "browse", { status })} />);
  }
  const dead = Object.values(health.data.dead_jobs).reduce((sum, count) => sum + count, 0);
  if (dead > 0) rows.push(<Row key="jobs" icon={CircleX} text={tn("health.dead_jobs", dead)} href={pagePath(project, "teach", { tab: "jobs" })} />);
  for (const run of health.data.runs.filter((each) => each.error)) {
    rows.push(<Row key={run.id} icon={History} text={t("health.failed_run", { stage: run.stage })} detail={run.error ?? ""} />);
  }
  for (const check of doctor.data?.checks.filter((each) => !each.fine) ?? []) {
    rows.push(<Row key={check.name} icon={CircleX} text={`${check.name}: ${check.detail}`} detail={check.advice} />);
  }
  if (silent) rows.push(<Row key="hooks" icon={PlugZap} text={t(silent)} detail={t("health.hooks_todo")} />);
  if (rows.length === 0) return <EmptyState icon={CircleCheck} title={t("health.nothing_to_do")} />;
  return <ul className={styles.list}>{rows}</ul>;
}

/** The message if no session was observed for a week. */
function useSilentHooks(): MessageKey | null {
  const sessions = useLatestSessions(6).data?.items;
  if (!sessions) return null;
  const last = sessions[0]?.last_at;
  if (last === undefined) return "health.hooks_never";
  return Date.now() - new Date(last).getTime() > SILENT_DAYS * DAY ? "health.hooks_silent" : null;
}

function Row({ icon: Icon, text, detail, href }: { icon: LucideIcon; text: string; detail?: string; href?: string }) {
  return (
    <li className={styles.row}>
      <Icon aria-hidden size={16} />
      <div>
        {href ? <Link href={href}>{text}</Link> : text}
        {detail && <p className={styles.detail}>{detail}</p>}
      </div>
    </li>
  );
}
