import { useState } from "react";
import { Link } from "wouter";
import { usePattern, useDeprecatePattern, useSimilarPatterns, type Pattern } from "@/api/patterns";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Button } from "@/components/Button";
import { ConfirmDialog } from "@/components/ConfirmDialog";
import { TextField } from "@/components/Fields";
import { Card, Grid, PageFrame } from "@/components/Layout";
import { ProblemView, Skeleton } from "@/components/States";
import { useToasts } from "@/components/Toasts";
import { useT } from "@/i18n";
import styles from "./Episodes.module.css";
import { PatternContent } from "./PatternContent";
import { PatternEvidence } from "./PatternEvidence";
import { PatternHistory } from "./PatternHistory";
import { PatternRefinement } from "./PatternRefinement";
import { PatternStatusBadge } from "./PatternsTab";

/** One pattern: what it recommends, its evidence, its versions and its validation. */
export function PatternDetails({ id }: { id: string }) {
  const { t, label } = useT();
  const project = useProject();
  const pattern = usePattern(id);
  const back = { href: pagePath(project, "episodes", { tab: "patterns" }), label: t("patterns.back") };
  if (!pattern.data) {
    return (
      <PageFrame title={t("patterns.one")} back={back}>
        {pattern.isError ? <ProblemView error={pattern.error} onRetry={() => void pattern.refetch()} /> : <Skeleton lines={8} />}
      </PageFrame>
    );
  }
  const facts = (
    <span className={styles.badges}>
      <PatternStatusBadge status={pattern.data.status} />
      <span>{label("category", pattern.data.category)}</span>
      {pattern.data.deprecation_reason && <span>{pattern.data.deprecation_reason}</span>}
    </span>
  );
  return (
    <PageFrame title={pattern.data.name} back={back} lead={facts} actions={pattern.data.status !== "DEPRECATED" && <Deprecate pattern={pattern.data} />}>
      <Grid>
        <PatternEvidence pattern={pattern.data} />
        <PatternContent pattern={pattern.data} />
        <PatternRefinement pattern={pattern.data} />
        <PatternHistory pattern={pattern.data} />
        <SimilarPatterns id={id} />
      </Grid>
    </PageFrame>
  );
}

function Deprecate({ pattern }: { pattern: Pattern }) {
  const { t } = useT();
  const toasts = useToasts();
  const deprecate = useDeprecatePattern(pattern.id);
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const run = () =>
    deprecate.mutate(reason.trim(), {
      onSuccess: () => toasts.show(t("patterns.deprecated")),
      onError: (error) => toasts.fail(t("patterns.deprecate_failed"), error),
    });
  return (
    <>
      <Button onPress={() => setOpen(true)}>{t("patterns.deprecate")}</Button>
      <ConfirmDialog title={t("patterns.deprecate_title", { name: pattern.name })} action={t("patterns.deprecate")} isOpen={isOpen} isDanger isReady={reason.trim() !== ""} onConfirm={run} onClose={() => setOpen(false)}>
        <div className={styles.form}>
          <p>{t("patterns.deprecate_why")}</p>
          <TextField label={t("patterns.reason")} value={reason} onChange={setReason} rows={2} isRequired autoFocus />
        </div>
      </ConfirmDialog>
    </>
  );
}

function SimilarPatterns({ id }: { id: string }) {
  const { t, percent } = useT();
  const project = useProject();
  const similar = useSimilarPatterns(id);
  const items = similar.data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <Card title={t("patterns.similar")} span={3}>
      <ul className={styles.bullets}>
        {items.map((each) => (
          <li key={each.pattern.id}>
            <Link href={pagePath(project, "episodes", { tab: "patterns", pattern: each.pattern.id })}>{each.pattern.name}</Link> {percent(each.score)}
          </li>
        ))}
      </ul>
    </Card>
  );
}
