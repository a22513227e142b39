import { MessagesSquare, Pin } from "lucide-react";
import { useState } from "react";
import { useWindow, type WindowMessage, type WindowReasons } from "@/api/conversations";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Badge } from "@/components/Badges";
import { Select } from "@/components/Fields";
import { Card, PageFrame } from "@/components/Layout";
import { SafeText } from "@/components/SafeText";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { Figures } from "@/components/Figures";
import { useT } from "@/i18n";
import styles from "./ConversationPage.module.css";

/** The window of a conversation as it was built: messages in it, removed ones and why, tokens by role. */
export function ConversationPage({ id }: { id: string }) {
  const { t, label } = useT();
  const project = useProject();
  const found = useWindow(id);
  const rules = found.data?.stats.rules;
  const lead = rules && [rules.model, t("sessions.strategy", { name: label("window_strategy", rules.strategy ?? "") })].filter(Boolean).join(" · ");
  return (
    <PageFrame title={id} back={{ href: pagePath(project, "sessions"), label: t("sessions.all") }} lead={lead}>
      {found.isError && <ProblemView error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Skeleton lines={10} />}
      {found.data && <WindowView window={found.data} />}
    </PageFrame>
  );
}

function WindowView({ window }: { window: WindowReasons }) {
  const { t, number } = useT();
  const { stats } = window;
  const limit = stats.rules.max_tokens;
  const figures = [
    { name: t("sessions.window_tokens"), value: number(stats.tokens), note: t("sessions.of", { n: number(limit) }) },
    { name: t("sessions.window_in"), value: number(stats.in_context), note: t("sessions.of", { n: number(stats.messages) }) },
    { name: t("sessions.window_removed"), value: number(stats.removed), note: t("sessions.still_stored") },
    { name: t("sessions.window_all"), value: number(stats.total_tokens), note: t("sessions.figure_tokens") },
  ];
  return (
    <>
      <div className={styles.figures}>
        <Figures figures={figures} />
      </div>
      <div className={styles.cards}>
        <Card title={t("sessions.tokens_by_role")} aside={stats.exact ? t("sessions.exact") : t("sessions.estimated")}>
          <RoleBar window={window} limit={limit} />
        </Card>
        <Card title={t("sessions.window")}>
          <Messages window={window} />
        </Card>
      </div>
    </>
  );
}

const ROLES = ["system", "user", "assistant", "tool"] as const;

function RoleBar({ window, limit }: { window: WindowReasons; limit: number }) {
  const { t, label, number, percent } = useT();
  const parts = [
    ...ROLES.map((role) => ({ role: role as string, tokens: window.stats.tokens_by_role[role] ?? 0 })),
    { role: "marker", tokens: window.stats.marker_tokens },
  ].filter((each) => each.tokens > 0);
  const free = Math.max(0, limit - window.stats.tokens);
  return (
    <>
      <div className={styles.bar} aria-hidden>
        {parts.map(({ role, tokens }) => (
          <span key={role} className={styles[role]} style={{ flexGrow: tokens }} />
        ))}
        <span style={{ flexGrow: free }} />
      </div>
      <ul className={styles.legend}>
        {parts.map(({ role, tokens }) => (
          <li key={role}>
            <span aria-hidden className={`${styles.swatch} ${styles[role]}`} />
            {label("role", role)} <strong>{number(tokens)}</strong> <span className={styles.share}>{percent(tokens / limit)}</span>
          </li>
        ))}
        <li>
          <span aria-hidden className={styles.swatch} />
          {t("sessions.free")} <strong>{number(free)}</strong> <span className={styles.share}>{percent(free / limit)}</span>
        </li>
      </ul>
    </>
  );
}

const SHOWN = ["all", "in", "removed"] as const;
type Shown = (typeof SHOWN)[number];

function Messages({ window }: { window: WindowReasons }) {
  const { t, label } = useT();
  const [shown, setShown] = useState<Shown>("all");
  const lines = window.lines.filter((each) => shown === "all" || each.in_context === (shown === "in"));
  return (
    <>
      <div className={styles.filter}>
        <Select
          label={t("sessions.show")}
          options={SHOWN.map((id) => ({ id, label: label("window_show", id) }))}
          value={shown}
          onChange={setShown}
          showLabel
        />
      </div>
      {lines.length === 0 ? (
        <EmptyState icon={MessagesSquare} title={t("sessions.nothing_shown")} />
      ) : (
        <ol className={styles.list} aria-label={t("sessions.window")}>
          {lines.map((line) => (
            <MessageRow key={line.id} line={line} summary={summaryAt(window, line)} />
          ))}
        </ol>
      )}
    </>
  );
}

/** The summary that replaced a run of removed messages, at the first of them. */
function summaryAt(window: WindowReasons, line: WindowMessage): string {
  return window.stats.spans.find((span) => span.first === line.seq)?.summary ?? "";
}

function MessageRow({ line, summary }: { line: WindowMessage; summary: string }) {
  const { t, tn, label, dateTime, percent } = useT();
  return (
    <li className={line.in_context ? styles.message : styles.out}>
      <p className={styles.head}>
        <span aria-hidden className={`${styles.swatch} ${styles[line.role]}`} />
        <strong>{label("role", line.role)}</strong>
        <Badge tone={line.in_context ? "green" : "grey"}>{t(line.in_context ? "sessions.in_window" : "sessions.out_of_window")}</Badge>
        {line.pinned && (
          <span className={styles.pin}>
            <Pin aria-hidden size={12} /> {t("state.pinned")}
          </span>
        )}
        <span className={styles.meta}>
          <span>{t("sessions.importance", { share: percent(line.importance.score) })}</span>
          <span>{tn("sessions.tokens", line.tokens)}</span>
          <time dateTime={line.at}>{dateTime(line.at)}</time>
        </span>
      </p>
      <SafeText text={line.text} />
      {line.why && (
        <p className={styles.why}>
          {t("sessions.because")} <span lang="en">{line.why}</span>
        </p>
      )}
      {summary && (
        <div className={styles.summary}>
          <p>{t("sessions.summary")}</p>
          <SafeText text={summary} />
        </div>
      )}
    </li>
  );
}
