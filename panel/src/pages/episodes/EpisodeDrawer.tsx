import { useEpisode, type Episode } from "@/api/episodes";
import { Dialog } from "@/components/Dialog";
import { SafeText } from "@/components/SafeText";
import { ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { EpisodeFacts } from "./EpisodeFacts";
import styles from "./Episodes.module.css";
import { FailureList } from "./FailureList";
import { OutcomeBadge } from "./OutcomeBadge";
import { Section } from "./Section";

/** One episode in full: task, plan, steps, outcome, what was learned, and similar failures. */
export function EpisodeDrawer({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const { t } = useT();
  const episode = useEpisode(id);
  return (
    <Dialog title={t("episodes.one")} isOpen={id !== undefined} onClose={onClose} kind="drawer">
      {episode.isPending && <Skeleton lines={8} />}
      {episode.isError && <ProblemView error={episode.error} onRetry={() => void episode.refetch()} />}
      {episode.data && <EpisodeDetails episode={episode.data} />}
    </Dialog>
  );
}

function EpisodeDetails({ episode }: { episode: Episode }) {
  const { t } = useT();
  const { task, execution, outcome, reflection } = episode;
  const error = failureOf(episode);
  return (
    <div className={styles.details}>
      <div className={styles.head}>
        <OutcomeBadge status={outcome.status} />
        <EpisodeFacts episode={episode} />
      </div>
      <div className={styles.lead}>
        <SafeText text={task.input} />
      </div>
      <Texts title={t("episodes.goals")} texts={task.goals} />
      <Texts title={t("episodes.constraints")} texts={task.constraints} />
      <Texts title={t("episodes.plan")} texts={execution.plan} isNumbered />
      {execution.trace.length > 0 && (
        <Section title={t("episodes.trace")}>
          <ol className={styles.trace}>
            {execution.trace.map((step, index) => (
              <li key={index} className={step.is_error ? styles.failed : ""}>
                <span className={styles.tool}>{step.tool ?? step.action}</span>
                <code className={styles.input}>{step.input || step.action}</code>
                {step.output && (
                  <span className={styles.result}>
                    {step.is_error && <strong>{t("episodes.error")} </strong>}
                    {step.output}
                  </span>
                )}
              </li>
            ))}
          </ol>
        </Section>
      )}
      {outcome.output && (
        <Section title={t("episodes.outcome")}>
          <SafeText text={outcome.output} />
        </Section>
      )}
      <Texts title={t("episodes.side_effects")} texts={outcome.side_effects} />
      <Texts title={t("episodes.insights")} texts={reflection.insights.map(textOf)} />
      <Texts title={t("episodes.failures")} texts={reflection.failures.map(textOf)} />
      {error && (
        <Section title={t("episodes.failures.similar")}>
          <FailureList error={error} except={episode.id} />
        </Section>
      )}
    </div>
  );
}

function Texts({ title, texts, isNumbered = false }: { title: string; texts: readonly string[]; isNumbered?: boolean }) {
  if (texts.length === 0) return null;
  const List = isNumbered ? "ol" : "ul";
  return (
    <Section title={title}>
      <List className={isNumbered ? styles.numbered : styles.bullets}>
        {texts.map((text, index) => (
          <li key={index}>{text}</li>
        ))}
      </List>
    </Section>
  );
}

/** What a reflection says: a text, or a value with its text and further fields. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  const fields = Object.entries((value ?? {}) as Record<string, unknown>).filter(([, each]) => typeof each === "string" && each !== "");
  return fields.map(([, each]) => String(each)).join(" · ");
}

/** The error to compare with other episodes: a noted failure, else the last failed step, else the output of a failure. */
function failureOf({ execution, outcome, reflection }: Episode): string {
  const noted = reflection.failures.map(textOf).find(Boolean);
  const step = execution.trace.findLast((each) => each.is_error)?.output;
  return noted ?? step ?? (outcome.status === "FAILURE" ? outcome.output : "");
}
