import { usePatternReview, usePatternVersions, useRefinePattern, type Pattern } from "@/api/patterns";
import { Button } from "@/components/Button";
import { Card } from "@/components/Layout";
import { ProblemView, Skeleton } from "@/components/States";
import { useToasts } from "@/components/Toasts";
import { useT } from "@/i18n";
import styles from "./Episodes.module.css";
import { PatternUses } from "./PatternEvidence";
import { changesBetween } from "./patternText";

/** The differences between the versions so far, a proposed refinement, and the uses that it is based on. */
export function PatternRefinement({ pattern }: { pattern: Pattern }) {
  return (
    <>
      <Versions pattern={pattern} />
      <div className={styles.column}>
        <Proposal pattern={pattern} />
        <PatternUses pattern={pattern} />
      </div>
    </>
  );
}

function Proposal({ pattern }: { pattern: Pattern }) {
  const { t, tn, number } = useT();
  const review = usePatternReview(pattern.id);
  const refine = useRefinePattern(pattern.id);
  const toasts = useToasts();
  const proposed = review.data?.proposed;
  const run = () =>
    refine.mutate(undefined, {
      onSuccess: () => toasts.show(t("patterns.refined")),
      onError: (error) => toasts.fail(t("patterns.refine_failed"), error),
    });
  return (
    <Card title={t("patterns.proposal")}>
      {review.isError && <ProblemView error={review.error} onRetry={() => void review.refetch()} />}
      {review.isPending && <Skeleton />}
      {review.data && proposed && (
        <div className={styles.details}>
          <p className={styles.note}>{t("patterns.proposal_counts", { succeeded: tn("patterns.succeeded", review.data.succeeded), failed: tn("patterns.failed", review.data.failed.length) })}</p>
          {proposed.changes.length > 0 ? (
            <>
              <ul className={styles.diff}>
                {proposed.changes.map((change) => (
                  <li key={change}>
                    <span className={styles.added}>
                      <ins>{change}</ins>
                    </span>
                  </li>
                ))}
              </ul>
              <p>{proposed.reason}</p>
              {proposed.p_value !== null && <p className={styles.note}>p = {number(proposed.p_value, { maximumSignificantDigits: 2 })}</p>}
              <div>
                <Button onPress={run} isDisabled={refine.isPending}>
                  {t("patterns.refine")}
                </Button>
              </div>
            </>
          ) : (
            <>
              <p>{t("patterns.proposal_none")}</p>
              <p className={styles.note} lang="en">
                {proposed.reason}
              </p>
            </>
          )}
        </div>
      )}
    </Card>
  );
}

function Versions({ pattern }: { pattern: Pattern }) {
  const { t, number, dateTime } = useT();
  const versions = usePatternVersions(pattern.id);
  const all = [pattern, ...(versions.data?.items ?? [])];
  const pairs = all.slice(0, -1).map((after, index) => ({ after, changes: changesBetween(all[index + 1]!, after) }));
  return (
    <Card title={t("patterns.versions")} span={2}>
      {versions.isError && <ProblemView error={versions.error} onRetry={() => void versions.refetch()} />}
      {versions.isPending && <Skeleton />}
      {versions.data && pairs.length === 0 && <p className={styles.note}>{t("patterns.versions_none")}</p>}
      <ol className={styles.versions}>
        {pairs.map(({ after, changes }) => (
          <li key={after.version}>
            <p className={styles.small}>{t("patterns.version", { version: number(after.version), time: dateTime(after.updated_at) })}</p>
            {changes.length === 0 && <p className={styles.note}>{t("patterns.no_changes")}</p>}
            <ul className={styles.diff}>
              {changes.map(({ field, before, after: now }) => (
                <li key={field}>
                  <code className={styles.field}>{field}</code>
                  {before !== undefined && (
                    <span className={styles.removed}>
                      <del>{before}</del>
                    </span>
                  )}
                  {now !== undefined && (
                    <span className={styles.added}>
                      <ins>{now}</ins>
                    </span>
                  )}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </Card>
  );
}
