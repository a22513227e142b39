import { CircleCheck, DatabaseBackup, Play } from "lucide-react";
import { LANGUAGE_MODEL, useBackup, useJobs, useRuns, useRunStages, useStages, type Job, type Run } from "@/api/maintenance";
import { Badge } from "@/components/Badges";
import { Button, IconButton } from "@/components/Button";
import { BarChart } from "@/components/Charts";
import { Card, Grid } from "@/components/Layout";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useToasts } from "@/components/Toasts";
import { useT } from "@/i18n";
import { Progress } from "./Progress";
import styles from "./Teach.module.css";

const TONES = { queued: "grey", leased: "blue", done: "green", dead: "red", running: "blue", failed: "red" } as const;
const DAYS_OF_TOKENS = 30;

/** Background work: jobs, maintenance with its progress, tokens of the language model, and backup. */
export function JobsTab() {
  return (
    <Grid>
      <Jobs />
      <Backup />
      <Maintenance />
      <Runs />
      <Tokens />
    </Grid>
  );
}

function Jobs() {
  const { t, tn } = useT();
  const open = useJobs(["leased", "queued"], 20);
  const failed = useJobs(["dead"], 20);
  const error = open.error ?? failed.error;
  const items = [...(failed.data?.items ?? []), ...(open.data?.items ?? [])];
  return (
    <Card title={t("teach.jobs.title")} aside={`${tn("teach.jobs.open", open.data?.total ?? 0)} · ${tn("teach.jobs.failed", failed.data?.total ?? 0)}`} span={2}>
      {error && <ProblemView error={error} onRetry={() => void Promise.all([open.refetch(), failed.refetch()])} />}
      {open.isPending && <Skeleton />}
      {open.isSuccess && failed.isSuccess && items.length === 0 && (
        <EmptyState icon={CircleCheck} title={t("teach.jobs.none")}>
          {t("teach.jobs.none_why")}
        </EmptyState>
      )}
      <ul className={styles.jobs}>
        {items.map((job) => (
          <JobRow key={job.id} job={job} />
        ))}
      </ul>
    </Card>
  );
}

function JobRow({ job }: { job: Job }) {
  const { t, label, number, ago } = useT();
  return (
    <li>
      <Badge tone={TONES[job.state]}>{label("job_state", job.state)}</Badge>
      <div>
        <strong>{label("job", job.kind)}</strong> {job.key && <code className={styles.aside}>{job.key}</code>}
        {job.error && <p className={styles.error}>{job.error}</p>}
      </div>
      <span className={styles.aside}>
        {job.attempts > 0 && `${t("teach.jobs.attempts", { n: number(job.attempts), most: number(job.max_attempts) })} · `}
        {ago(job.created_at)}
      </span>
    </li>
  );
}

function Maintenance() {
  const { t, label, ago, dateTime } = useT();
  const toasts = useToasts();
  const stages = useStages();
  const run = useRunStages();
  const start = (stage: string | null) =>
    run.mutate(stage, {
      onSuccess: () => toasts.show(t("teach.jobs.ran", { stage: stage ? label("stage", stage) : t("teach.jobs.all") })),
      onError: (error) => toasts.fail(t("teach.jobs.run_failed"), error),
    });
  const isRunning = (stage: string) => run.isPending && (run.variables === stage || run.variables === null);
  return (
    <Card
      title={t("teach.jobs.maintenance")}
      span={3}
      aside={
        <Button size="s" icon={Play} onPress={() => start(null)} isDisabled={run.isPending}>
          {t("teach.jobs.run_all")}
        </Button>
      }
    >
      {stages.isError && <ProblemView error={stages.error} onRetry={() => void stages.refetch()} />}
      {stages.isPending && <Skeleton lines={6} />}
      <ul className={styles.stages}>
        {stages.data?.items.map(({ stage, last, next, overdue }) => (
          <li key={stage}>
            <div className={styles.stageName}>
              <strong>{label("stage", stage)}</strong>
              <span className={styles.note}>{label("stage_why", stage)}</span>
            </div>
            <div className={styles.stageState}>
              {last?.state === "running" || isRunning(stage) ? (
                <Progress label={label("stage", stage)} done={last?.done ?? 0} total={last?.state === "running" ? last.total : null} />
              ) : last ? (
                <span>
                  <Badge tone={TONES[last.state]}>{label("run_state", last.state)}</Badge> {ago(last.finished_at ?? last.started_at)}
                </span>
              ) : (
                <span>{t("teach.jobs.never")}</span>
              )}
              {last?.error && <p className={styles.error}>{last.error}</p>}
              <span className={styles.aside}>
                {overdue ? t("teach.jobs.overdue") : next ? <time title={dateTime(next)}>{t("teach.jobs.next", { time: ago(next) })}</time> : t("teach.jobs.unscheduled")}
              </span>
            </div>
            <IconButton icon={Play} label={t("teach.jobs.run", { stage: label("stage", stage) })} onPress={() => start(stage)} isDisabled={run.isPending} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Runs() {
  const { t, label, ago } = useT();
  const runs = useRuns([], 12);
  const items = (runs.data?.items ?? []).filter((run) => run.stage !== LANGUAGE_MODEL);
  return (
    <Card title={t("teach.jobs.runs")} span={2}>
      {runs.isError && <ProblemView error={runs.error} onRetry={() => void runs.refetch()} />}
      {runs.isPending && <Skeleton />}
      {runs.isSuccess && items.length === 0 && <p className={styles.note}>{t("teach.jobs.no_runs")}</p>}
      <ul className={styles.jobs}>
        {items.map((run) => (
          <li key={run.id}>
            <Badge tone={TONES[run.state]}>{label("run_state", run.state)}</Badge>
            <div>
              <strong>{label("stage", run.stage)}</strong> <span className={styles.aside}>{counts(run)}</span>
              {run.state === "running" && <Progress label={label("stage", run.stage)} done={run.done} total={run.total} />}
              {run.error && <p className={styles.error}>{run.error}</p>}
            </div>
            <span className={styles.aside}>{ago(run.started_at)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function counts(run: Run): string {
  const shown = Object.entries(run.counts).filter(([, value]) => typeof value === "number" && value > 0);
  return shown.map(([name, value]) => `${name.replaceAll("_", " ")} ${String(value)}`).join(" · ");
}

function Tokens() {
  const { t, tn, number, language } = useT();
  const runs = useRuns([LANGUAGE_MODEL], DAYS_OF_TOKENS);
  const days = [...(runs.data?.items ?? [])].reverse();
  const day = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", timeZone: "UTC" });
  const total = days.reduce((sum, each) => sum + each.done, 0);
  const calls = days.reduce((sum, each) => sum + Number(each.counts.calls ?? 0), 0);
  return (
    <Card title={t("teach.jobs.tokens")} aside={days.length > 0 ? `${tn("teach.jobs.calls", calls)} · ${number(total)}` : undefined}>
      {runs.isError && <ProblemView error={runs.error} onRetry={() => void runs.refetch()} />}
      {runs.isPending && <Skeleton />}
      {runs.isSuccess && days.length === 0 && <p className={styles.note}>{t("teach.jobs.no_tokens")}</p>}
      {days.length > 0 && (
        <BarChart
          title={t("teach.jobs.tokens")}
          axis={t("teach.jobs.day")}
          series={[{ name: t("teach.jobs.tokens"), tone: "good" }]}
          bars={days.map((each) => ({ label: day.format(new Date(each.started_at)), values: [each.done] }))}
        />
      )}
    </Card>
  );
}

function Backup() {
  const { t, dateTime } = useT();
  const toasts = useToasts();
  const backup = useBackup();
  const run = () => backup.mutate(undefined, { onError: (error) => toasts.fail(t("teach.backup.failed"), error) });
  return (
    <Card title={t("teach.backup.title")}>
      <div className={styles.form}>
        <p className={styles.note}>{t("teach.backup.why")}</p>
        <div>
          <Button icon={DatabaseBackup} onPress={run} isDisabled={backup.isPending}>
            {backup.isPending ? t("teach.backup.running") : t("teach.backup.run")}
          </Button>
        </div>
        <div aria-live="polite">
          {backup.data && (
            <p className={styles.note}>
              {t("teach.backup.done", { time: dateTime(backup.data.at) })} <code>{backup.data.path}</code>
            </p>
          )}
        </div>
      </div>
    </Card>
  );
}
