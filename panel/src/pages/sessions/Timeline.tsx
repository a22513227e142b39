import {
  BookOpen,
  CircleCheck,
  CircleX,
  Flag,
  FilePen,
  Lightbulb,
  MessageSquare,
  Play,
  Quote,
  Search,
  Sparkles,
  type LucideIcon,
} from "lucide-react";
import { useMemo, useState, type ReactNode } from "react";
import { useTimeline, type InjectedItem, type ObservedSession, type TimelineEntry } from "@/api/sessions";
import { Badge } from "@/components/Badges";
import { Select } from "@/components/Fields";
import { SafeText } from "@/components/SafeText";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { GivenItem } from "./GivenItem";
import styles from "./Timeline.module.css";

interface Moment {
  kind: TimelineEntry["kind"] | "given" | "begin" | "end";
  at: number;
  entry?: TimelineEntry;
  items?: readonly InjectedItem[];
}
type Tone = "accent" | "red" | "violet" | "quiet";

const LOOK: Record<Moment["kind"], readonly [LucideIcon, Tone]> = {
  begin: [Play, "quiet"],
  prompt: [MessageSquare, "accent"],
  answer: [Quote, "quiet"],
  read: [BookOpen, "quiet"],
  searched: [Search, "quiet"],
  edited: [FilePen, "quiet"],
  succeeded: [CircleCheck, "accent"],
  failed: [CircleX, "red"],
  corrected: [Lightbulb, "violet"],
  given: [Sparkles, "violet"],
  end: [Flag, "quiet"],
};
const ACTIONS: readonly Moment["kind"][] = ["read", "searched", "edited", "succeeded", "failed", "corrected"];

function isAction(kind: Moment["kind"]): boolean {
  return ACTIONS.includes(kind);
}

const SHOWN = {
  all: () => true,
  messages: (kind: Moment["kind"]) => kind === "prompt" || kind === "answer",
  tools: isAction,
  errors: (kind: Moment["kind"]) => kind === "failed",
  given: (kind: Moment["kind"]) => kind === "given",
};
type Shown = keyof typeof SHOWN;

/** What happened in a session, in order: prompts, tools, errors, and what the agent was given. */
export function Timeline({ session, items }: { session: ObservedSession; items: readonly InjectedItem[] }) {
  const { t, tn, label } = useT();
  const timeline = useTimeline(session.id);
  const [shown, setShown] = useState<Shown>("all");
  const entries = timeline.data?.entries;
  const moments = useMemo(() => inOrder(session, entries ?? [], items), [session, entries, items]);
  const visible = moments.filter((each) => SHOWN[shown](each.kind));
  if (timeline.isError) return <ProblemView error={timeline.error} onRetry={() => void timeline.refetch()} />;
  if (timeline.isPending) return <Skeleton lines={8} />;
  return (
    <>
      <div className={styles.bar}>
        <Select
          label={t("sessions.show")}
          options={(Object.keys(SHOWN) as Shown[]).map((id) => ({ id, label: label("timeline_show", id) }))}
          value={shown}
          onChange={setShown}
          showLabel
        />
        {timeline.data.dropped > 0 && <p className={styles.note}>{tn("sessions.dropped", timeline.data.dropped)}</p>}
      </div>
      {entries?.length === 0 && <p className={styles.note}>{t("sessions.no_timeline")}</p>}
      {visible.length === 0 ? (
        <EmptyState icon={Search} title={t("sessions.nothing_shown")} />
      ) : (
        <ol className={styles.timeline} aria-label={t("sessions.timeline")}>
          {visible.map((moment, index) => (
            <MomentRow key={index} moment={moment} session={session} />
          ))}
        </ol>
      )}
    </>
  );
}

function MomentRow({ moment, session }: { moment: Moment; session: ObservedSession }) {
  const { label, language } = useT();
  const [Icon, tone] = LOOK[moment.kind];
  const { entry } = moment;
  const at = entry ? entry.at : new Date(moment.at).toISOString();
  const time = at && new Intl.DateTimeFormat(language, { timeStyle: "medium" }).format(new Date(at));
  return (
    <li className={`${styles.moment} ${styles[tone]}`} data-kind={moment.kind}>
      <span className={styles.icon}>
        <Icon aria-hidden size={14} />
      </span>
      <div className={styles.body}>
        <p className={styles.head}>
          <span className={styles.kind}>{label("timeline", moment.kind)}</span>
          {entry && isAction(moment.kind) && (
            moment.kind === "corrected" ? <span className={styles.plain}>{label("cue", entry.text)}</span> : <code className={styles.code}>{entry.text}</code>
          )}
          {entry?.agent && <Badge>{entry.agent}</Badge>}
          {entry?.step != null && <StepNumber step={entry.step} />}
        </p>
        <MomentBody moment={moment} session={session} />
      </div>
      {time ? (
        <time className={styles.time} dateTime={at}>
          {time}
        </time>
      ) : (
        <span className={styles.time}>–</span>
      )}
    </li>
  );
}

function StepNumber({ step }: { step: number }) {
  const { t } = useT();
  return <span className={styles.step}>{t("sessions.step", { n: step })}</span>;
}

function MomentBody({ moment, session }: { moment: Moment; session: ObservedSession }): ReactNode {
  const { t, tn, label } = useT();
  const { entry, items } = moment;
  if (moment.kind === "end") return <p className={styles.plain}>{label("outcome", session.outcome ?? "running")}</p>;
  if (items) {
    const tokens = items.reduce((sum, each) => sum + (each.tokens ?? 0), 0);
    return (
      <>
        <p className={styles.plain}>
          {label("point", items[0]!.point)}
          {items.length > 1 && ` · ${tn("sessions.tokens", tokens)}`}
        </p>
        <ul className={styles.items}>
          {items.map((item) => (
            <GivenItem key={item.id} item={item} />
          ))}
        </ul>
      </>
    );
  }
  if (!entry) return null;
  if (moment.kind === "prompt" || moment.kind === "answer") {
    return (
      <div className={moment.kind === "prompt" ? styles.prompt : styles.answer}>
        <SafeText text={entry.text} />
        {entry.taint && <p className={styles.taint}>{t("sessions.tainted_by", { source: entry.taint })}</p>}
      </div>
    );
  }
  return entry.error && <pre className={styles.error}>{entry.error}</pre>;
}

/** Entries as the server ordered them, with what was given in between by its time. */
function inOrder(session: ObservedSession, entries: readonly TimelineEntry[], items: readonly InjectedItem[]): Moment[] {
  const begin = Date.parse(session.started_at);
  let last = begin;
  const seen = entries.map((entry): Moment => {
    last = entry.at ? Date.parse(entry.at) : last;
    return { kind: entry.kind, at: last, entry };
  });
  // A session whose notes were removed still has its first prompts, without their times.
  const hasPrompts = entries.some((each) => each.kind === "prompt");
  const early = hasPrompts ? [] : session.prompts.map((text): Moment => ({ kind: "prompt", at: begin, entry: promptWithoutTime(text) }));
  const given = [...new Set(items.map((each) => each.injection))].map((injection): Moment => {
    const together = items.filter((each) => each.injection === injection);
    return { kind: "given", at: Date.parse(together[0]!.injected_at), items: together };
  });
  const end: Moment[] = session.finished_at ? [{ kind: "end", at: Date.parse(session.finished_at) }] : [];
  const between = [...early, ...seen, ...given].sort((a, b) => a.at - b.at);
  return [{ kind: "begin", at: begin }, ...between, ...end];
}

function promptWithoutTime(text: string): TimelineEntry {
  return { kind: "prompt", at: null, text, step: null, error: "", agent: "", taint: null };
}
