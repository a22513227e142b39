import { Clock3, MessagesSquare } from "lucide-react";
import { Link, useSearchParams } from "wouter";
import type { Schemas } from "@/api/client";
import { useConversations, type Conversation } from "@/api/conversations";
import { useGivenCounts, useSessions, type ObservedSession } from "@/api/sessions";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Button } from "@/components/Button";
import { MultiSelect } from "@/components/Fields";
import { Card, PageFrame } from "@/components/Layout";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { OutcomeBadge } from "./OutcomeBadge";
import styles from "./SessionList.module.css";

type Outcome = Schemas["SessionOutcome"];
type Type = Schemas["SessionType"];
const OUTCOMES: readonly Outcome[] = ["success", "failure", "abandoned"];
const TYPES: readonly Type[] = ["build", "insights", "roadmap", "terminal", "changelog", "spec", "pr_review"];

/** Observed sessions and conversations, newest first. */
export function SessionList() {
  const { t, label } = useT();
  const [search, setSearch] = useSearchParams();
  const types = search.getAll("type") as Type[];
  const outcomes = search.getAll("outcome") as Outcome[];
  const setAll = (name: string, values: readonly string[]) =>
    setSearch((all) => {
      all.delete(name);
      for (const value of values) all.append(name, value);
      return all;
    });
  const options = <T extends string>(group: string, values: readonly T[]) => values.map((id) => ({ id, label: label(group, id) }));
  const filters = (
    <>
      <MultiSelect label={t("sessions.outcome")} options={options("outcome", OUTCOMES)} values={outcomes} onChange={(values) => setAll("outcome", values)} />
      <MultiSelect label={t("sessions.type")} options={options("session_type", TYPES)} values={types} onChange={(values) => setAll("type", values)} />
    </>
  );
  return (
    <PageFrame title={t("nav.sessions")} lead={t("sessions.lead")} actions={filters}>
      <div className={styles.cards}>
        <Card isFlush>
          <Sessions types={types} outcomes={outcomes} />
        </Card>
        <Conversations />
      </div>
    </PageFrame>
  );
}

function Sessions({ types, outcomes }: { types: Type[]; outcomes: Outcome[] }) {
  const { t } = useT();
  const found = useSessions({ types, outcomes });
  const given = useGivenCounts(found.sessions.map((each) => each.id));
  if (found.isError) return <ProblemView error={found.error} onRetry={() => void found.refetch()} />;
  if (found.isPending) return <Skeleton lines={8} />;
  if (found.sessions.length === 0) return <NoSessions isFiltered={types.length + outcomes.length > 0} />;
  return (
    <>
      <ul className={styles.list} aria-label={t("nav.sessions")}>
        {found.sessions.map((session) => (
          <SessionRow key={session.id} session={session} given={given.get(session.id)} />
        ))}
      </ul>
      {found.hasNextPage && (
        <p className={styles.more}>
          <Button isDisabled={found.isFetchingNextPage} onPress={() => void found.fetchNextPage()}>
            {t("sessions.more")}
          </Button>
        </p>
      )}
    </>
  );
}

function NoSessions({ isFiltered }: { isFiltered: boolean }) {
  const { t } = useT();
  const project = useProject();
  if (!isFiltered) {
    return (
      <EmptyState icon={Clock3} title={t("sessions.none")}>
        {t("sessions.none_todo")} <code>treering init</code>
      </EmptyState>
    );
  }
  const action = <Link href={pagePath(project, "sessions")}>{t("sessions.clear")}</Link>;
  return <EmptyState icon={Clock3} title={t("sessions.no_match")} action={action} />;
}

interface SessionRowProps {
  session: ObservedSession;
  given: { given: number; used: number } | undefined;
}

function SessionRow({ session, given }: SessionRowProps) {
  const { t, tn, label, ago, dateTime } = useT();
  const project = useProject();
  const learned = session.candidates.filter((each) => each.decision !== "rejected").length;
  return (
    <li className={styles.row}>
      <div className={styles.main}>
        <Link href={pagePath(project, "sessions", { id: session.id })} className={styles.title}>
          {session.prompts[0] ?? session.id}
        </Link>
        <span className={styles.meta}>
          {session.agent && <span>{session.agent}</span>}
          <span>{label("session_type", session.type)}</span>
          <span>{session.id}</span>
        </span>
      </div>
      <span className={styles.figure}>{tn("sessions.events", session.events)}</span>
      <span className={learned ? styles.figure : styles.none}>{learned ? tn("sessions.learned", learned) : t("sessions.learned_none")}</span>
      <span className={given ? styles.figure : styles.none}>
        {given ? t("sessions.used_of_given", { used: given.used, given: given.given }) : t("sessions.given_none")}
      </span>
      <span className={styles.outcome}>
        <OutcomeBadge session={session} />
      </span>
      <time className={styles.time} dateTime={session.started_at} title={dateTime(session.started_at)}>
        {ago(session.started_at)}
      </time>
    </li>
  );
}

function Conversations() {
  const { t } = useT();
  const found = useConversations();
  if (found.isError) return <ProblemView error={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data?.length) return null;
  return (
    <Card title={t("sessions.conversations")} aside={t("sessions.conversations_note")} isFlush>
      <ul className={styles.list}>
        {found.data.map((each) => (
          <ConversationRow key={each.id} conversation={each} />
        ))}
      </ul>
    </Card>
  );
}

function ConversationRow({ conversation }: { conversation: Conversation }) {
  const { tn, ago, dateTime } = useT();
  const project = useProject();
  const removed = conversation.context?.removed.reduce((sum, each) => sum + (each.messages ?? 0), 0) ?? 0;
  return (
    <li className={styles.row}>
      <div className={styles.main}>
        <Link href={pagePath(project, "sessions", { conversation: conversation.id })} className={styles.title}>
          {conversation.title ?? conversation.id}
        </Link>
        <span className={styles.meta}>
          <MessagesSquare aria-hidden size={13} />
          {conversation.context?.rules.model && <span>{conversation.context.rules.model}</span>}
        </span>
      </div>
      <span className={styles.figure}>{tn("sessions.messages", conversation.turns ?? 0)}</span>
      <span className={styles.figure}>{tn("sessions.removed", removed)}</span>
      <span className={styles.wide} />
      <time className={styles.time} dateTime={conversation.last_at} title={dateTime(conversation.last_at)}>
        {ago(conversation.last_at)}
      </time>
    </li>
  );
}
