import { Link } from "wouter";
import { useSimilarFailures } from "@/api/episodes";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Badge } from "@/components/Badges";
import { ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { EpisodeFacts } from "./EpisodeFacts";
import styles from "./Episodes.module.css";

/** Episodes with this error or a similar one, and how each of them recovered. */
export function FailureList({ error, except }: { error: string; except?: string }) {
  const { t, percent } = useT();
  const project = useProject();
  const found = useSimilarFailures(error);
  if (found.isError) return <ProblemView error={found.error} onRetry={() => void found.refetch()} />;
  if (found.isPending) return <Skeleton lines={4} />;
  const hits = found.data.hits.filter((hit) => hit.episode.id !== except);
  if (hits.length === 0) return <p className={styles.note}>{t("episodes.failures.none")}</p>;
  return (
    <ul className={styles.list} aria-label={t("episodes.failures.similar")}>
      {hits.map((hit) => (
        <li key={hit.id} className={styles.row}>
          <div className={styles.head}>
            <Badge tone={hit.same ? "red" : "amber"}>{hit.same ? t("episodes.failures.same") : t("episodes.failures.like", { share: percent(hit.likeness) })}</Badge>
            <Badge tone={hit.recovered ? "green" : "grey"}>{hit.recovered ? t("episodes.failures.recovered") : t("episodes.failures.open")}</Badge>
            <Link href={pagePath(project, "episodes", { episode: hit.episode.id })} className={styles.title}>
              {hit.episode.task.input}
            </Link>
          </div>
          <pre className={styles.errorText}>{hit.error}</pre>
          {hit.recovery.length > 0 && (
            <div>
              <h4 className={styles.small}>{t("episodes.failures.recovery")}</h4>
              <ol className={styles.numbered}>
                {hit.recovery.map((step, index) => (
                  <li key={index}>
                    <code>{step}</code>
                  </li>
                ))}
              </ol>
            </div>
          )}
          {hit.insights.length > 0 && (
            <ul className={styles.bullets}>
              {hit.insights.map((insight, index) => (
                <li key={index}>{insight}</li>
              ))}
            </ul>
          )}
          <EpisodeFacts episode={hit.episode} />
        </li>
      ))}
    </ul>
  );
}
