import { useMemo } from "react";
import { Link } from "wouter";
import { useApplications, usePatternSessions, type Pattern } from "@/api/patterns";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { BarChart, RateChart } from "@/components/Charts";
import { Card } from "@/components/Layout";
import { ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import styles from "./Episodes.module.css";
import { OutcomeBadge } from "./OutcomeBadge";

const USES_SHOWN = 8;

/** The evidence of a pattern: figures, outcomes by session, and success rate over time. */
export function PatternEvidence({ pattern }: { pattern: Pattern }) {
  const { t, language } = useT();
  const sessions = usePatternSessions(pattern.id);
  const items = sessions.data?.items;
  const day = useMemo(() => new Intl.DateTimeFormat(language, { day: "numeric", month: "short" }), [language]);
  const running = useMemo(() => {
    let successes = 0;
    let uses = 0;
    return (items ?? []).map((each) => {
      successes += each.successes + each.partial / 2;
      uses += each.n;
      return { label: day.format(new Date(each.at)), share: uses === 0 ? 0 : successes / uses };
    });
  }, [items, day]);
  const base = pattern.evidence.base_rate;
  return (
    <>
      <Figures pattern={pattern} />
      <div className={styles.charts}>
        <Card title={t("patterns.by_session")}>
          {sessions.isError && <ProblemView error={sessions.error} onRetry={() => void sessions.refetch()} />}
          {sessions.isPending && <Skeleton />}
          {items?.length === 0 && <p className={styles.note}>{t("patterns.no_uses")}</p>}
          {items && items.length > 0 && (
            <BarChart
              title={t("patterns.by_session")}
              axis={t("patterns.session")}
              series={[
                { name: t("patterns.successes"), tone: "good" },
                { name: t("patterns.partial"), tone: "middle" },
                { name: t("patterns.failures"), tone: "bad" },
              ]}
              bars={items.map((each) => ({ label: day.format(new Date(each.at)), values: [each.successes, each.partial, each.n - each.successes - each.partial] }))}
            />
          )}
        </Card>
        {running.length > 0 && (
          <Card title={t("patterns.rate")}>
            <RateChart title={t("patterns.rate")} name={t("patterns.with")} axis={t("patterns.session")} points={running} reference={base === null ? undefined : { name: t("patterns.without"), share: base }} />
          </Card>
        )}
      </div>
    </>
  );
}

function Figures({ pattern: { evidence } }: { pattern: Pattern }) {
  const { t, number, percent, ago } = useT();
  const figures: readonly [string, string, string][] = [
    [t("patterns.figure.uses"), number(evidence.applications), t("patterns.figure.uses_why", { n: number(evidence.sessions) })],
    [t("patterns.figure.rate"), evidence.success_rate === null ? "–" : percent(evidence.success_rate), evidence.base_rate === null ? t("patterns.figure.no_base") : t("patterns.otherwise", { share: percent(evidence.base_rate) })],
    [t("patterns.figure.confidence"), percent(evidence.confidence), t("patterns.figure.confidence_why")],
    [t("patterns.figure.p"), evidence.p_value === null ? "–" : number(evidence.p_value, { maximumSignificantDigits: 2 }), t("patterns.figure.p_why")],
    [t("patterns.figure.validated"), evidence.last_validated_at ? ago(evidence.last_validated_at) : t("patterns.figure.never"), t("patterns.figure.tests", { n: number(evidence.tests) })],
  ];
  return (
    <Card title={t("patterns.evidence")}>
      <dl className={styles.figures}>
        {figures.map(([name, value, why]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className={styles.figure}>{value}</dd>
            <dd className={styles.why}>{why}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

/** The latest uses with their outcomes. */
export function PatternUses({ pattern }: { pattern: Pattern }) {
  const { t, tn, ago } = useT();
  const project = useProject();
  const uses = useApplications(pattern.id);
  const items = uses.data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <Card title={t("patterns.latest")} aside={tn("patterns.uses", items.length)}>
      <ul className={styles.uses}>
        {items.slice(0, USES_SHOWN).map((use) => (
          <li key={use.id}>
            <OutcomeBadge status={use.outcome} />
            {use.session ? (
              <Link href={pagePath(project, "sessions", { id: use.session })} className={styles.quiet}>
                {use.session}
              </Link>
            ) : (
              <span>{use.task_type ?? ""}</span>
            )}
            <time dateTime={use.at}>{ago(use.at)}</time>
          </li>
        ))}
      </ul>
    </Card>
  );
}
