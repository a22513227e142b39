import { Shapes } from "lucide-react";
import { Link } from "wouter";
import { usePatterns, useValidatePatterns, type Pattern } from "@/api/patterns";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Badge } from "@/components/Badges";
import { Button } from "@/components/Button";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useToasts } from "@/components/Toasts";
import { useT } from "@/i18n";
import styles from "./Episodes.module.css";
import { summaryOf } from "./patternText";

const TONES: Record<Pattern["status"], "green" | "blue" | "amber" | "grey"> = {
  VALIDATED: "green",
  CANDIDATE: "blue",
  UNDER_REVIEW: "amber",
  DEPRECATED: "grey",
};
const ORDER = Object.keys(TONES);

/** All patterns, proven ones first. */
export function PatternsTab() {
  const { t, tn } = useT();
  const patterns = usePatterns();
  const validate = useValidatePatterns();
  const toasts = useToasts();
  if (patterns.isError) return <ProblemView error={patterns.error} onRetry={() => void patterns.refetch()} />;
  if (patterns.isPending) return <Skeleton lines={6} />;
  const items = [...patterns.data.items].sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status) || b.evidence.confidence - a.evidence.confidence);
  if (items.length === 0) {
    return (
      <EmptyState icon={Shapes} title={t("patterns.none")}>
        {t("patterns.none_why")}
      </EmptyState>
    );
  }
  const judge = () =>
    validate.mutate(undefined, {
      onSuccess: (answer) => toasts.show(tn("patterns.moved", answer.items.filter((each) => each.moved).length)),
      onError: (error) => toasts.fail(t("patterns.validate_failed"), error),
    });
  return (
    <div className={styles.stack}>
      <div className={styles.bar}>
        <p className={styles.note}>{t("patterns.explained")}</p>
        <Button onPress={judge} isDisabled={validate.isPending}>
          {t("patterns.validate")}
        </Button>
      </div>
      <ul className={styles.list} aria-label={t("patterns.tab")}>
        {items.map((pattern) => (
          <PatternRow key={pattern.id} pattern={pattern} />
        ))}
      </ul>
    </div>
  );
}

function PatternRow({ pattern }: { pattern: Pattern }) {
  const { t, tn, label, percent } = useT();
  const project = useProject();
  const { evidence } = pattern;
  return (
    <li className={styles.row}>
      <div className={styles.head}>
        <PatternStatusBadge status={pattern.status} />
        <Link href={pagePath(project, "episodes", { tab: "patterns", pattern: pattern.id })} className={styles.title}>
          {pattern.name}
        </Link>
      </div>
      <p className={styles.output}>{pattern.summary || summaryOf(pattern.content)}</p>
      <ul className={styles.facts}>
        <li>{label("category", pattern.category)}</li>
        <li>{tn("patterns.uses", evidence.applications)}</li>
        {evidence.success_rate !== null && <li>{t("episodes.succeeded", { share: percent(evidence.success_rate) })}</li>}
        {evidence.base_rate !== null && <li>{t("patterns.otherwise", { share: percent(evidence.base_rate) })}</li>}
      </ul>
    </li>
  );
}

export function PatternStatusBadge({ status }: { status: Pattern["status"] }) {
  const { label } = useT();
  return <Badge tone={TONES[status]}>{label("pattern_status", status)}</Badge>;
}
