import { GitFork, SearchX } from "lucide-react";
import { useDeferredValue, useMemo, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { useEpisodeSearch, useEpisodes, useEpisodeTrend, type Episode, type OutcomeStatus } from "@/api/episodes";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Button } from "@/components/Button";
import { BarChart } from "@/components/Charts";
import { MultiSelect, SearchField } from "@/components/Fields";
import { Card } from "@/components/Layout";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { EpisodeDrawer } from "./EpisodeDrawer";
import { EpisodeFacts } from "./EpisodeFacts";
import styles from "./Episodes.module.css";
import { OutcomeBadge } from "./OutcomeBadge";

const OUTCOMES: readonly OutcomeStatus[] = ["SUCCESS", "PARTIAL", "FAILURE"];

/** Task executions: how they went over time, a list to search and filter, and the details of one. */
export function EpisodesTab() {
  const { t, label } = useT();
  const project = useProject();
  const [parameters, setParameters] = useSearchParams();
  const [text, setText] = useState("");
  const query = useDeferredValue(text.trim());
  const outcomes = parameters.getAll("outcome") as OutcomeStatus[];
  const domains = parameters.getAll("domain");
  const filter = { outcomes, domains };
  const listed = useEpisodes(filter, query === "");
  const searched = useEpisodeSearch(query, filter);
  const shown = query === "" ? listed : searched;
  const episodes = query === "" ? listed.episodes : (searched.data?.hits ?? []).map((hit) => hit.episode);
  const known = useKnownDomains(listed.episodes, domains);
  const isFiltered = query !== "" || outcomes.length > 0 || domains.length > 0;

  const choose = (name: string, values: readonly string[]) =>
    setParameters((before) => {
      const next = new URLSearchParams(before);
      next.delete(name);
      for (const value of values) next.append(name, value);
      return next;
    });
  const clear = () => {
    setText("");
    setParameters({});
  };

  return (
    <div className={styles.stack}>
      <Trend />
      <div className={styles.filters}>
        <SearchField label={t("episodes.search")} value={text} onChange={setText} />
        <MultiSelect label={t("episodes.outcome")} options={OUTCOMES.map((id) => ({ id, label: label("episode_outcome", id) }))} values={outcomes} onChange={(values) => choose("outcome", values)} />
        <MultiSelect label={t("episodes.domain")} options={known.map((id) => ({ id, label: id }))} values={domains} onChange={(values) => choose("domain", values)} />
      </div>
      {shown.isError && <ProblemView error={shown.error} onRetry={() => void shown.refetch()} />}
      {shown.isPending && <Skeleton lines={6} />}
      {shown.isSuccess && episodes.length === 0 && (
        <EmptyState
          icon={isFiltered ? SearchX : GitFork}
          title={isFiltered ? t("episodes.none_found") : t("episodes.none")}
          action={isFiltered && <Button onPress={clear}>{t("episodes.clear")}</Button>}
        >
          {!isFiltered && t("episodes.none_why")}
        </EmptyState>
      )}
      {episodes.length > 0 && (
        <ul className={styles.list} aria-label={t("episodes.tab")}>
          {episodes.map((episode) => (
            <li key={episode.id} className={styles.row}>
              <div className={styles.head}>
                <OutcomeBadge status={episode.outcome.status} />
                <Link href={pagePath(project, "episodes", { ...Object.fromEntries(parameters), episode: episode.id })} className={styles.title}>
                  {episode.task.input}
                </Link>
              </div>
              {episode.outcome.output && <p className={styles.output}>{episode.outcome.output}</p>}
              <EpisodeFacts episode={episode} />
            </li>
          ))}
        </ul>
      )}
      {query === "" && listed.hasNextPage && (
        <div>
          <Button onPress={() => void listed.fetchNextPage()} isDisabled={listed.isFetchingNextPage}>
            {t("episodes.more")}
          </Button>
        </div>
      )}
      <EpisodeDrawer
        id={parameters.get("episode") ?? undefined}
        onClose={() =>
          setParameters((before) => {
            const next = new URLSearchParams(before);
            next.delete("episode");
            return next;
          })
        }
      />
    </div>
  );
}

function Trend() {
  const { t, tn, percent, language } = useT();
  const trend = useEpisodeTrend();
  const weeks = useMemo(() => {
    const found = new Map<string, { episodes: number; successes: number }>();
    for (const each of trend.data?.items ?? []) {
      const week = found.get(each.since) ?? { episodes: 0, successes: 0 };
      found.set(each.since, { episodes: week.episodes + each.episodes, successes: week.successes + each.successes });
    }
    return [...found].sort(([a], [b]) => a.localeCompare(b));
  }, [trend.data]);
  if (trend.isError) return <ProblemView error={trend.error} onRetry={() => void trend.refetch()} />;
  if (weeks.length === 0) return null;
  const day = new Intl.DateTimeFormat(language, { day: "numeric", month: "short" });
  const episodes = weeks.reduce((total, [, week]) => total + week.episodes, 0);
  const successes = weeks.reduce((total, [, week]) => total + week.successes, 0);
  return (
    <Card title={t("episodes.trend")} aside={`${tn("episodes.count", episodes)} · ${t("episodes.succeeded", { share: percent(successes / Math.max(1, episodes)) })}`}>
      <BarChart
        title={t("episodes.trend")}
        axis={t("episodes.week")}
        series={[
          { name: t("episodes.successes"), tone: "good" },
          { name: t("episodes.others"), tone: "bad" },
        ]}
        bars={weeks.map(([since, week]) => ({ label: day.format(new Date(since)), values: [week.successes, week.episodes - week.successes] }))}
      />
    </Card>
  );
}

/** Domains of the loaded episodes and those of the filter, so that a chosen one does not vanish. */
function useKnownDomains(episodes: readonly Episode[], chosen: readonly string[]): string[] {
  return useMemo(
    () => [...new Set([...chosen, ...episodes.flatMap((each) => each.metadata.domain ?? [])])].sort((a, b) => a.localeCompare(b)),
    [episodes, chosen],
  );
}
