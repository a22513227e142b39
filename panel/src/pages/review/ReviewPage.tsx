import { CheckCheck, ListChecks } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { useRecordActions } from "@/api/recordActions";
import type { Knowledge } from "@/api/records";
import { useConfirmMany, useReview, type Review } from "@/api/review";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { useShortcuts } from "@/app/shortcuts";
import { Button } from "@/components/Button";
import { Checkbox } from "@/components/Checkbox";
import { ConfirmDialog } from "@/components/ConfirmDialog";
import { CorrectDialog } from "@/components/CorrectDialog";
import { Kbd, PageFrame } from "@/components/Layout";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { ReviewCard } from "./ReviewCard";
import { KEYS, type Decision } from "./decisions";
import styles from "./ReviewPage.module.css";
import { TrustCard } from "./TrustCard";

/** What sessions learned: each record is decided with one key or one click. */
export default function ReviewPage() {
  const { t } = useT();
  const project = useProject();
  const [search, setSearch] = useSearchParams();
  const session = search.get("session") ?? undefined;
  const every = search.get("every") === "yes";
  const review = useReview(session, every);
  const lead = session ? (
    <>
      {t("review.of_session")} <Link href={pagePath(project, "sessions", { id: session })}>{session}</Link> ·{" "}
      <Link href={pagePath(project, "review")}>{t("review.show_everything")}</Link>
    </>
  ) : (
    t("review.lead")
  );
  const setEvery = (isSet: boolean) =>
    setSearch((all) => {
      if (isSet) all.set("every", "yes");
      else all.delete("every");
      return all;
    });
  return (
    <PageFrame title={t("nav.review")} lead={lead}>
      <div className={styles.columns}>
        <div className={styles.queue}>
          {review.isError && <ProblemView error={review.error} onRetry={() => void review.refetch()} />}
          {review.isPending && <Skeleton lines={8} />}
          {review.data && <Queue review={review.data} />}
          {review.data && (every || review.data.not_shown > 0) && (
            <Checkbox isSelected={every} onChange={setEvery}>
              {t("review.every")}
            </Checkbox>
          )}
        </div>
        <TrustCard />
      </div>
    </PageFrame>
  );
}

/** Whether a record still waits; a decision changes the cached record at once, so it leaves the queue at once. */
function waits(record: Knowledge, review: Review): boolean {
  if (review.session) return !record.user_verified;
  return !!(record.flagged || record.needs_review || record.tainted || record.stale_at);
}

function Queue({ review }: { review: Review }) {
  const { t, tn } = useT();
  const actions = useRecordActions();
  const confirmMany = useConfirmMany();
  const [later, setLater] = useState<readonly string[]>([]);
  const [activeId, setActiveId] = useState<string>();
  const [edited, setEdited] = useState<Knowledge | null>(null);
  const [isConfirmingAll, setConfirmingAll] = useState(false);
  const last = useRef<{ id: string; decision: Decision } | null>(null);
  const lastPlace = useRef(0);
  const takeFocus = useRef(false);
  const list = useRef<HTMLDivElement>(null);

  const { learned, tainted } = useMemo(() => {
    const left = (records: readonly Knowledge[]) => records.filter((each) => waits(each, review) && !later.includes(each.id));
    return { learned: left(review.learned), tainted: left(review.tainted) };
  }, [review, later]);
  const queue = useMemo(() => [...learned, ...tainted], [learned, tainted]);
  const postponed = [...review.learned, ...review.tainted].filter((each) => later.includes(each.id));
  const found = queue.findIndex((each) => each.id === activeId);
  // The place of a record that has left the queue goes to the record after it.
  const place = found >= 0 ? found : Math.max(0, Math.min(lastPlace.current, queue.length - 1));
  lastPlace.current = place;
  const active = queue[place];

  useEffect(() => {
    if (!takeFocus.current) return;
    takeFocus.current = false;
    const card = active && list.current?.querySelector<HTMLElement>(`[data-record="${CSS.escape(active.id)}"]`);
    (card || list.current)?.focus({ preventScroll: true });
    card?.scrollIntoView({ block: "nearest" });
  });

  const moveTo = useCallback((record: Knowledge | undefined) => {
    takeFocus.current = true;
    setActiveId(record?.id);
  }, []);
  const decide = (decision: Decision, record = active) => {
    if (!record) return;
    if (decision === "edit") {
      setActiveId(record.id);
      return setEdited(record);
    }
    const at = queue.indexOf(record);
    moveTo(queue[at + 1] ?? queue[at - 1]);
    last.current = { id: record.id, decision };
    if (decision === "confirm") actions.confirm(record);
    else if (decision === "reject") actions.forget(record);
    else setLater((all) => [...all, record.id]);
  };
  const undo = () => {
    const done = last.current;
    if (!done) return;
    last.current = null;
    takeFocus.current = true;
    setActiveId(done.id);
    if (done.decision === "later") setLater((all) => all.filter((id) => id !== done.id));
    else actions.undo(done.id);
  };
  useShortcuts("nav.review", [
    { keys: KEYS.confirm, label: "review.confirm", run: () => decide("confirm") },
    { keys: KEYS.edit, label: "review.edit", run: () => decide("edit") },
    { keys: KEYS.reject, label: "review.reject", run: () => decide("reject") },
    { keys: KEYS.later, label: "review.later", run: () => decide("later") },
    { keys: "j", label: "review.next", run: () => moveTo(queue[place + 1] ?? active) },
    { keys: "k", label: "review.previous", run: () => moveTo(queue[place - 1] ?? active) },
    { keys: "u", label: "review.undo", run: undo },
  ]);

  const section = (title: string, note: string, records: readonly Knowledge[], header?: React.ReactNode) =>
    records.length > 0 && (
      <section className={styles.section} aria-label={title}>
        <header className={styles.header}>
          <h2>
            {title} <span className={styles.count}>{records.length}</span>
          </h2>
          {header}
          <p className={styles.note}>{note}</p>
        </header>
        <ol className={styles.list}>
          {records.map((record) => (
            <li key={record.id}>
              <ReviewCard
                record={record}
                isActive={record === active}
                describedBy="review-keys"
                onActive={() => setActiveId(record.id)}
                onDecide={(decision) => decide(decision, record)}
              />
            </li>
          ))}
        </ol>
      </section>
    );
  return (
    <div ref={list} tabIndex={-1} role="group" aria-label={t("review.queue")} className={styles.group}>
      {queue.length > 0 && <KeyBar left={queue.length} />}
      {section(
        t("review.learned"),
        t("review.learned_note"),
        learned,
        review.confirms_all && learned.length > 1 && (
          <Button size="s" icon={CheckCheck} onPress={() => setConfirmingAll(true)}>
            {t("review.confirm_all")}
          </Button>
        ),
      )}
      {section(t("review.tainted"), t("review.tainted_note"), tainted)}
      {queue.length === 0 && (
        <EmptyState icon={ListChecks} title={t(postponed.length ? "review.only_later" : "review.done")}>
          {!postponed.length && t(review.not_shown ? "review.done_by_trust" : "review.done_note")}
        </EmptyState>
      )}
      {postponed.length > 0 && (
        <div className={styles.postponed}>
          {tn("review.postponed", postponed.length)}
          <Button size="s" variant="quiet" onPress={() => setLater([])}>
            {t("review.bring_back")}
          </Button>
        </div>
      )}
      {edited && (
        <CorrectDialog
          record={edited}
          onClose={() => {
            takeFocus.current = true;
            setEdited(null);
          }}
        />
      )}
      <ConfirmDialog
        title={t("review.confirm_all")}
        action={t("review.confirm")}
        isOpen={isConfirmingAll}
        onClose={() => setConfirmingAll(false)}
        onConfirm={() => void confirmMany(learned)}
      >
        {tn("review.confirm_all_ask", learned.length)}
      </ConfirmDialog>
    </div>
  );
}

/** The keys, visible and as the description of each card for screen readers. */
function KeyBar({ left }: { left: number }) {
  const { t, tn } = useT();
  const keys = (Object.keys(KEYS) as Decision[]).map((decision) => [KEYS[decision], t(`review.${decision}`)] as const);
  const all = [...keys, ["j k", t("review.move")], ["u", t("review.undo")]] as const;
  return (
    <div className={styles.bar}>
      <span className={styles.left}>{tn("review.left", left)}</span>
      <ul className={styles.keys} aria-hidden>
        {all.map(([key, text]) => (
          <li key={key}>
            {key.split(" ").map((each) => (
              <Kbd key={each}>{each}</Kbd>
            ))}{" "}
            {text}
          </li>
        ))}
      </ul>
      <span id="review-keys" className="visually-hidden">
        {t("review.keys", { keys: all.map(([key, text]) => `${key}: ${text}`).join(", ") })}
      </span>
    </div>
  );
}
