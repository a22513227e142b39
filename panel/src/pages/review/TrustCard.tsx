import { Link } from "wouter";
import { useSetTrust, useTrust, type Trust } from "@/api/trust";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Button } from "@/components/Button";
import { Card } from "@/components/Layout";
import { ProblemView, Skeleton } from "@/components/States";
import { useToasts } from "@/components/Toasts";
import { useT } from "@/i18n";
import styles from "./TrustCard.module.css";

/** The trust level of the project: what it means, and what it is based on. */
export function TrustCard() {
  const { t } = useT();
  const trust = useTrust();
  return (
    <Card title={t("review.trust")}>
      {trust.isError && <ProblemView error={trust.error} />}
      {trust.isPending && <Skeleton lines={4} />}
      {trust.data && <TrustLevels trust={trust.data} />}
    </Card>
  );
}

function TrustLevels({ trust }: { trust: Trust }) {
  const { t, tn, label, percent } = useT();
  const project = useProject();
  const { reviewed, confirmed, sessions, corrected } = trust.evidence;
  return (
    <div className={styles.trust}>
      <ol className={styles.levels}>
        {Object.entries(trust.levels).map(([level]) => (
          <li key={level} className={level === trust.level ? styles.current : styles.level} aria-current={level === trust.level || undefined}>
            {label("trust", level)}
          </li>
        ))}
      </ol>
      <p>{label("trust_means", trust.level)}</p>
      <dl className={styles.figures}>
        <dt>{t("review.min_confidence")}</dt>
        <dd>{percent(trust.min_confidence)}</dd>
        <dt>{t("review.seen_sessions")}</dt>
        <dd>{sessions}</dd>
        <dt>{t("review.seen_confirmed")}</dt>
        <dd>{t("review.share", { part: confirmed, all: reviewed })}</dd>
        <dt>{t("review.seen_corrected")}</dt>
        <dd>{corrected}</dd>
      </dl>
      {trust.offered && (
        <div className={styles.offer} role="status">
          <p>{tn("review.offered", trust.evidence.flagged_in_last_session, { level: label("trust", trust.offered) })}</p>
          <OfferButton level={trust.offered} />
        </div>
      )}
      <p className={styles.link}>
        <Link href={pagePath(project, "teach", { tab: "trust" })}>{t("review.change_trust")}</Link>
      </p>
    </div>
  );
}

function OfferButton({ level }: { level: NonNullable<Trust["offered"]> }) {
  const { t, label } = useT();
  const toasts = useToasts();
  const set = useSetTrust();
  const run = () =>
    set.mutate(level, {
      onSuccess: () => toasts.show(t("review.trust_set", { level: label("trust", level) })),
      onError: (error) => toasts.fail(t("actions.failed"), error),
    });
  return (
    <Button size="s" isDisabled={set.isPending} onPress={run}>
      {t("review.use_level", { level: label("trust", level) })}
    </Button>
  );
}
