import { SearchX, Trash2 } from "lucide-react";
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useRecords, type Knowledge } from "@/api/records";
import { useSearch } from "@/api/search";
import { useShortcuts } from "@/app/shortcuts";
import { useMediaQuery } from "@/app/useMediaQuery";
import { Button } from "@/components/Button";
import { CorrectDialog } from "@/components/CorrectDialog";
import { Dialog } from "@/components/Dialog";
import { SearchField } from "@/components/Fields";
import { Kbd, PageFrame } from "@/components/Layout";
import { RECORD_ACTIONS, RecordActionBar, useRunAction } from "@/components/RecordActionBar";
import { RecordCard } from "@/components/RecordCard";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { VirtualList } from "@/components/VirtualList";
import { useT } from "@/i18n";
import styles from "./BrowsePage.module.css";
import { ExplainDrawer } from "./ExplainDrawer";
import { FilterBar, SortControl } from "./FilterBar";
import { forgetFilter, hasFilters, listFilter, NO_FILTERS, passes, searchRequest, useBrowsing, type Browsing } from "./filters";
import { ForgetDialog } from "./ForgetDialog";
import { RecordDetails } from "./RecordDetails";
import { useTyped } from "./useTyped";

interface Shown {
  record: Knowledge;
  score?: number;
}

/** Actions that may take a record out of the list. */
const CHANGES = new Set(["confirm", "correct", "flag", "pin", "mute", "forget"]);

/** Records by search or by filter, with every action on them. */
export default function BrowsePage() {
  const { t, tn, number, percent } = useT();
  const [browsing, change] = useBrowsing();
  const [typed, setTyped] = useTyped(browsing.query, (query) => change({ query }));
  const [active, setActive] = useState(0);
  const [opened, setOpened] = useState<{ action: "correct" | "explain" | "forget"; record?: Knowledge } | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const isWide = useMediaQuery("(min-width: 1180px)");
  const found = useShown(browsing);
  const { items } = found;
  const current = items[Math.min(active, items.length - 1)]?.record;
  const runAction = useRunAction((action, record) => setOpened({ action, record }));
  const changed = useRef<Knowledge | null>(null);
  const run = (action: string, record: Knowledge) => {
    if (CHANGES.has(action)) changed.current = record;
    runAction(action, record);
  };
  const shown = JSON.stringify({ ...browsing, record: undefined });
  useEffect(() => {
    changed.current = null;
  }, [shown]);
  // A change may take the record out of the list; `u` means that one, not the record in its place.
  const undoLast = () => {
    const left = changed.current && !items.some((item) => item.record.id === changed.current?.id) ? changed.current : undefined;
    changed.current = null;
    const record = left ?? current;
    if (record) runAction("undo", record);
  };

  useEffect(() => setActive(0), [browsing.query, browsing.sort]);
  useShortcuts("browse.keys", [
    { keys: "/", label: "browse.key.search", run: () => field.current?.focus() },
    ...RECORD_ACTIONS.map((action) => ({ keys: action.key, label: action.label, run: action.id === "undo" ? undoLast : () => current && run(action.id, current) })),
  ]);

  const latestRun = useRef(run);
  latestRun.current = run;
  const renderRow = useCallback(
    (item: Shown, isActive: boolean, isPointed: boolean) => (
      <RecordCard
        record={item.record}
        aside={item.score !== undefined && <span title={t("browse.score")}>{percent(item.score)}</span>}
        actions={
          (isActive || isPointed) && (
            <span className={styles.actions} data-active={isActive || undefined}>
              <RecordActionBar record={item.record} onAction={(id, record) => latestRun.current(id, record)} isReachable={isActive} />
            </span>
          )
        }
      />
    ),
    [t, number],
  );
  const list = (
    <VirtualList
      label={t("browse.list")}
      items={items}
      keyOf={(item) => item.record.id}
      nameOf={(item) => item.record.content.slice(0, 120)}
      active={Math.min(active, Math.max(0, items.length - 1))}
      onActive={setActive}
      onOpen={(item) => change({ record: item.record.id })}
      onEnd={found.loadMore}
      {...(found.total !== undefined && { total: found.total })}
      isBusy={found.isFetching}
      render={renderRow}
    />
  );

  // The next paint shows the row that was pressed; its details, which also change the width of the list, may follow.
  const shownRecord = useDeferredValue(browsing.record);
  const details = shownRecord !== undefined && (
    <RecordDetails id={shownRecord} onAction={run} onOpen={(id) => change({ record: id })} onClose={() => change({ record: undefined })} hasHeading={isWide} />
  );

  return (
    <PageFrame
      title={t("nav.browse")} lead={t("browse.lead")}
      isFilled
    >
      <div className={styles.tools}>
        <SearchField ref={field} label={t("browse.search")} value={typed} onChange={setTyped} hint={<Kbd>/</Kbd>} />
        <FilterBar browsing={browsing} onChange={change} />
      </div>
      <div className={styles.columns}>
        <div className={styles.list}>
          <div className={styles.head}>
            <p className={styles.count} role="status">
              {found.total === undefined ? " " : tn(browsing.query ? "browse.hits" : "browse.count", found.total)}
              {found.isUncertain && <span className={styles.uncertain}>{t("browse.uncertain")}</span>}
            </p>
            <SortControl browsing={browsing} onChange={change} />
            <Button size="s" icon={Trash2} isDisabled={!canForget(browsing, items)} onPress={() => setOpened({ action: "forget" })}>
              {t("browse.forget_many")}
            </Button>
          </div>
          {found.error ? <ProblemView error={found.error} onRetry={found.retry} /> : null}
          {found.isPending && <div className={styles.padded}><Skeleton lines={6} /></div>}
          {!found.isPending && items.length === 0 && !found.error && <NothingFound browsing={browsing} onClear={() => change({ ...NO_FILTERS, query: "" })} />}
          {items.length > 0 && list}
        </div>
        {isWide && details && <aside className={styles.details} aria-label={t("record.details")}>{details}</aside>}
      </div>
      {!isWide && details && (
        <Dialog title={t("record.details")} isOpen onClose={() => change({ record: undefined })} kind="drawer">
          {details}
        </Dialog>
      )}
      {opened?.action === "correct" && opened.record && <CorrectDialog record={opened.record} onClose={() => setOpened(null)} />}
      {opened?.action === "explain" && opened.record && (
        <ExplainDrawer record={opened.record} request={searchRequest(browsing, browsing.query)} sort={browsing.sort} onClose={() => setOpened(null)} />
      )}
      {opened?.action === "forget" && <ForgetDialog selection={selectionOf(browsing, items)} onClose={() => setOpened(null)} />}
    </PageFrame>
  );
}

function selectionOf(browsing: Browsing, items: readonly Shown[]) {
  if (browsing.query) return { where: null, ids: items.map((item) => item.record.id) };
  return { where: forgetFilter(browsing), ids: [] };
}

function canForget(browsing: Browsing, items: readonly Shown[]): boolean {
  return items.length > 0 && (browsing.query !== "" || forgetFilter(browsing) !== null);
}

/** The records to show: a search if there is a query, else a list. */
function useShown(browsing: Browsing) {
  const isSearch = browsing.query !== "";
  const search = useSearch(searchRequest(browsing, browsing.query), isSearch);
  const list = useRecords(listFilter(browsing), !isSearch);
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = list;
  const loadMore = useCallback(() => {
    if (!isSearch && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [isSearch, hasNextPage, isFetchingNextPage, fetchNextPage]);
  const hits = search.data?.hits;
  const items = useMemo<Shown[]>(() => {
    if (!isSearch) return list.records.map((record) => ({ record }));
    const found = (hits ?? []).filter((hit) => hit.kind === "knowledge").map((hit) => ({ record: hit.record as Knowledge, score: hit.score }));
    return found.filter((item) => passes(item.record, browsing));
  }, [isSearch, list.records, hits, browsing]);
  const query = isSearch ? search : list;
  return {
    items,
    total: isSearch ? (search.data ? items.length : undefined) : list.total,
    isPending: query.isPending,
    isFetching: query.isFetching,
    error: query.error,
    isUncertain: isSearch && search.data?.confidence === "low" && items.length > 0,
    retry: () => void query.refetch(),
    loadMore,
  };
}

function NothingFound({ browsing, onClear }: { browsing: Browsing; onClear: () => void }) {
  const { t } = useT();
  const isFiltered = browsing.query !== "" || hasFilters(browsing);
  return (
    <EmptyState
      icon={SearchX}
      title={t(isFiltered ? "browse.nothing" : "browse.empty")}
      action={isFiltered && <Button onPress={onClear}>{t("browse.clear")}</Button>}
    >
      {t(isFiltered ? "browse.nothing_todo" : "browse.empty_todo")}
    </EmptyState>
  );
}
