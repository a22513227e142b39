import { ShieldCheck } from "lucide-react";
import { Label, Radio, RadioGroup } from "react-aria-components";
import { useSetTrust, useTrust, type TrustLevel } from "@/api/trust";
import { Button } from "@/components/Button";
import { Card } from "@/components/Layout";
import { ProblemView, Skeleton } from "@/components/States";
import { useToasts } from "@/components/Toasts";
import { useT } from "@/i18n";
import styles from "./Teach.module.css";

const LEVELS: readonly TrustLevel[] = ["cautious", "standard", "confident", "autonomous"];

/** How certain a record must be before an agent is given it unasked. */
export function TrustTab() {
  const { t, label, percent, number, ago } = useT();
  const toasts = useToasts();
  const trust = useTrust();
  const change = useSetTrust();
  if (trust.isError) return <ProblemView error={trust.error} onRetry={() => void trust.refetch()} />;
  if (trust.isPending) return <Skeleton lines={6} />;
  const { level, levels, evidence, since, offered } = trust.data;
  const set = (next: TrustLevel) =>
    change.mutate(next, {
      onSuccess: () => toasts.show(t("teach.trust.changed", { level: label("trust", next) }), () => change.mutate(level)),
      onError: (error) => toasts.fail(t("teach.trust.failed"), error),
    });
  const shown = change.isPending ? change.variables : level;
  const counts: readonly [string, number][] = [
    [t("teach.trust.sessions"), evidence.sessions],
    [t("teach.trust.reviewed"), evidence.reviewed],
    [t("teach.trust.confirmed"), evidence.confirmed],
    [t("teach.trust.used"), evidence.used],
    [t("teach.trust.corrected"), evidence.corrected],
    [t("teach.trust.flagged"), evidence.flagged_in_last_session],
  ];
  return (
    <div className={styles.columns}>
      <Card title={t("teach.trust.title")}>
        <div className={styles.form}>
          <p className={styles.note}>{t("teach.trust.why")}</p>
          {offered && (
            <div className={styles.offer}>
              <p>{t("teach.trust.offered", { level: label("trust", offered) })}</p>
              <Button size="s" onPress={() => set(offered)}>
                {t("teach.trust.accept", { level: label("trust", offered) })}
              </Button>
            </div>
          )}
          <RadioGroup value={shown} onChange={(value) => set(value as TrustLevel)} className={styles.levels!}>
            <Label className="visually-hidden">{t("teach.trust.title")}</Label>
            {LEVELS.map((each) => (
              <Radio key={each} value={each} className={styles.level!}>
                <span className={styles.dot} aria-hidden />
                <span className={styles.levelText}>
                  <strong>{label("trust", each)}</strong>
                  <span>{label("trust_why", each)}</span>
                </span>
                <span className={styles.aside}>{t("teach.trust.above", { share: percent(levels[each] ?? 0) })}</span>
              </Radio>
            ))}
          </RadioGroup>
        </div>
      </Card>
      <Card title={t("teach.trust.evidence")} aside={since ? t("teach.trust.since", { time: ago(since) }) : undefined}>
        <dl className={styles.counts}>
          {counts.map(([name, count]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{number(count)}</dd>
            </div>
          ))}
        </dl>
        <p className={styles.explained}>
          <ShieldCheck aria-hidden size={16} />
          {t("teach.trust.rules")}
        </p>
      </Card>
    </div>
  );
}
