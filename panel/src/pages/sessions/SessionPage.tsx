import { EyeOff, ListChecks } from "lucide-react";
import { Link, useLocation } from "wouter";
import type { Schemas } from "@/api/client";
import { problemOf } from "@/api/problems";
import { useInjected, useSession, type InjectedItem, type ObservedSession } from "@/api/sessions";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Badge } from "@/components/Badges";
import { Button } from "@/components/Button";
import { Card, Grid, PageFrame } from "@/components/Layout";
import { Figures } from "@/components/Figures";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { Decisions } from "./Decisions";
import { OutcomeBadge } from "./OutcomeBadge";
import styles from "./SessionPage.module.css";
import { Timeline } from "./Timeline";

/** One session: its timeline, what it was given, and what was learned from it and why. */
export function SessionPage({ id }: { id: string }) {
  const { t } = useT();
  const project = useProject();
  const [, go] = useLocation();
  const found = useSession(id);
  const injected = useInjected(id);
  const session = found.data?.session;
  const isUnobserved = found.isError && problemOf(found.error).status === 404;
  const actions = (
    <Button icon={ListChecks} onPress={() => go(pagePath(project, "review", { session: id, every: "yes" }))}>
      {t("sessions.review")}
    </Button>
  );
  return (
    <PageFrame title={session?.prompts[0] ?? id} back={{ href: pagePath(project, "sessions"), label: t("sessions.all") }} lead={session && <Facts session={session} />} actions={!isUnobserved && actions}>
      {isUnobserved && (
        <EmptyState
          icon={EyeOff}
          title={t("sessions.unobserved")}
          action={<Link href={pagePath(project, "browse", { session: id })}>{t("sessions.unobserved_records")}</Link>}
        >
          {t("sessions.unobserved_todo")} <code>treering init</code>
        </EmptyState>
      )}
      {found.isError && !isUnobserved && <ProblemView error={found.error} onRetry={() => void found.refetch()} />}
      {injected.isError && <ProblemView error={injected.error} onRetry={() => void injected.refetch()} />}
      {found.isPending && <Skeleton lines={10} />}
      {found.data && <Content details={found.data} items={injected.data?.items ?? []} />}
    </PageFrame>
  );
}

function Facts({ session }: { session: ObservedSession }) {
  const { t, label, dateTime, duration } = useT();
  const length = Date.parse(session.finished_at ?? session.last_at) - Date.parse(session.started_at);
  return (
    <span className={styles.facts}>
      <OutcomeBadge session={session} />
      {session.validated !== null && (
        <Badge tone={session.validated ? "green" : "amber"}>{t(session.validated ? "sessions.validated" : "sessions.not_validated")}</Badge>
      )}
      {session.agent && <span>{session.agent}</span>}
      <span>{label("session_type", session.type)}</span>
      <time dateTime={session.started_at}>{dateTime(session.started_at)}</time>
      <span>{duration(length)}</span>
      <code>{session.id}</code>
    </span>
  );
}

function Content({ details, items }: { details: Schemas["SessionDetails"]; items: readonly InjectedItem[] }) {
  const { t, number } = useT();
  const { session } = details;
  const used = items.filter((each) => each.outcome === "used");
  const saved = used.reduce((sum, each) => sum + (each.tokens ?? 0), 0);
  const tokens = items.reduce((sum, each) => sum + (each.tokens ?? 0), 0);
  const learned = session.candidates.filter((each) => each.decision !== "rejected").length;
  const figures = [
    { name: t("sessions.figure_events"), value: number(session.events), note: t("sessions.figure_steps", { n: number(session.steps) }) },
    { name: t("sessions.figure_read"), value: number(session.tokens), note: t("sessions.figure_tokens") },
    { name: t("sessions.figure_given"), value: number(items.length), note: t("sessions.figure_given_tokens", { n: number(tokens) }) },
    { name: t("sessions.figure_used"), value: number(used.length), note: items.length ? t("sessions.of", { n: number(items.length) }) : "" },
    { name: t("health.saved"), value: number(saved), note: t("sessions.figure_saved") },
    { name: t("sessions.figure_learned"), value: number(learned), note: t("sessions.of_candidates", { n: number(session.candidates.length) }) },
  ];
  return (
    <>
      <div className={styles.figures}>
        <Figures figures={figures} />
      </div>
      <Grid>
        <Card title={t("sessions.timeline")} span={2}>
          <Timeline session={session} items={items} />
        </Card>
        <div className={styles.side}>
          <Card title={t("sessions.decisions")}>
            <Decisions details={details} />
          </Card>
          <Files session={session} />
          <Notes session={session} />
        </div>
      </Grid>
    </>
  );
}

function Files({ session }: { session: ObservedSession }) {
  const { t, tn } = useT();
  if (session.files.length === 0) return null;
  return (
    <Card title={t("sessions.files")}>
      <ul className={styles.files}>
        {session.files.map((file) => (
          <li key={file.path}>
            <code>{file.path}</code>
            <span>
              {[
                (file.reads ?? 0) > 0 && tn("sessions.reads", file.reads ?? 0),
                (file.edits ?? 0) > 0 && tn("sessions.edits", file.edits ?? 0),
              ]
                .filter(Boolean)
                .join(", ")}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Sources from outside, and events that could not be taken in; usually there are none. */
function Notes({ session }: { session: ObservedSession }) {
  const { t, label } = useT();
  const ignored = Object.entries(session.ignored).filter(([, count]) => Number(count) > 0);
  if (session.taints.length + ignored.length === 0) return null;
  return (
    <Card title={t("sessions.notes")}>
      <ul className={styles.files}>
        {session.taints.map((source) => (
          <li key={source}>
            <span>{t("sessions.outside")}</span>
            <code>{source}</code>
          </li>
        ))}
        {ignored.map(([reason, count]) => (
          <li key={reason}>
            <span>{label("ignored", reason)}</span>
            <span>{String(count)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
