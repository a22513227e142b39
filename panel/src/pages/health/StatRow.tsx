import { Link } from "wouter";
import type { Schemas } from "@/api/client";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { useT } from "@/i18n";
import styles from "./StatRow.module.css";

/** The four numbers at the top: records, active, to review, tokens saved. */
export function StatRow({ overview }: { overview: Schemas["OverviewAnswer"] }) {
  const { t, tn, number, percent } = useT();
  const project = useProject();
  const { total, active, needs_review, tokens_given, tokens_used } = overview;
  return (
    <dl className={styles.row}>
      <Stat name={t("health.total")} value={number(total)} note={t("health.total_note")} href={pagePath(project, "browse")} />
      <Stat name={t("health.active")} value={number(active)} note={t("health.active_note", { share: percent(total ? active / total : 0) })} />
      <Stat
        name={t("health.waiting")}
        value={number(needs_review)}
        note={needs_review ? t("health.waiting_note") : t("health.waiting_none")}
        href={pagePath(project, "review")}
        isWarning={needs_review > 0}
      />
      <Stat name={t("health.saved")} value={tn("health.tokens", tokens_used)} note={t("health.saved_note", { given: number(tokens_given) })} />
    </dl>
  );
}

interface StatProps {
  name: string;
  value: string;
  note: string;
  href?: string;
  isWarning?: boolean;
}

function Stat({ name, value, note, href, isWarning = false }: StatProps) {
  return (
    <div className={styles.stat}>
      <dt className={styles.name}>{href ? <Link href={href}>{name}</Link> : name}</dt>
      <dd className={`${styles.value} ${isWarning ? styles.warning : ""}`}>{value}</dd>
      <dd className={styles.note}>{note}</dd>
    </div>
  );
}
