import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import styles from "./VirtualList.module.css";

export interface VirtualListProps<T> {
  label: string;
  items: readonly T[];
  keyOf: (item: T) => string;
  /** The content of an item. Controls are worth their time only if the item is active or under the pointer. */
  render: (item: T, isActive: boolean, isPointed: boolean) => ReactNode;
  /** Accessible name of an item. */
  nameOf: (item: T) => string;
  active: number;
  onActive: (index: number) => void;
  onOpen?: (item: T) => void;
  /** Called when the end of the loaded items comes near. */
  onEnd?: () => void;
  /** Number of all items, also those that are not loaded. */
  total?: number;
  estimate?: number;
  isBusy?: boolean;
  children?: ReactNode;
}

const MARGIN = 20;

/**
 * A feed of any length, of which only the visible part is in the page. One item is active: it takes the focus, arrow
 * keys move it, and Enter opens it.
 */
export function VirtualList<T>(props: VirtualListProps<T>) {
  const { label, items, keyOf, render, nameOf, active, onActive, onOpen, onEnd, total, estimate = 112, isBusy, children } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const takeFocus = useRef(false);
  const [pointed, setPointed] = useState(-1);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimate,
    getItemKey: (index) => (items[index] === undefined ? index : keyOf(items[index])),
    overscan: 8,
    rangeExtractor: (range) => withActive(defaultRangeExtractor(range), active, items.length),
  });
  const rows = virtualizer.getVirtualItems();
  const last = rows.at(-1)?.index ?? -1;
  const lastVisible = rows.length && last === active ? (rows.at(-2)?.index ?? last) : last;

  useEffect(() => {
    if (lastVisible >= items.length - MARGIN) onEnd?.();
  }, [lastVisible, items.length, onEnd]);

  useEffect(() => {
    if (!takeFocus.current) return;
    takeFocus.current = false;
    virtualizer.scrollToIndex(active, { align: "auto" });
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-index="${active}"]`)?.focus({ preventScroll: true }));
  }, [active, virtualizer]);

  // The browser drops the focus with the row that has it; the row in its place takes it.
  const focused = useRef<string | null>(null);
  useEffect(() => {
    if (focused.current === null || document.activeElement !== document.body) return;
    if (items.some((item) => keyOf(item) === focused.current)) return;
    scroller.current?.querySelector<HTMLElement>(`[data-index="${active}"]`)?.focus({ preventScroll: true });
  }, [items, active, keyOf]);

  const move = (event: KeyboardEvent) => {
    const target = MOVES[event.key]?.(active, items.length);
    if (event.key === "Enter" && event.target === event.currentTarget.querySelector(`[data-index="${active}"]`)) {
      const item = items[active];
      if (item !== undefined) onOpen?.(item);
      return;
    }
    if (target === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(items.length - 1, target));
    takeFocus.current = true;
    if (next === active) takeFocus.current = false;
    onActive(next);
  };

  return (
    <div ref={scroller} className={styles.scroller} data-testid="scroller">
      <div role="feed" aria-label={label} aria-busy={isBusy} className={styles.feed} style={{ height: virtualizer.getTotalSize() }} onKeyDown={move}>
        {rows.map((row) => {
          const item = items[row.index]!;
          return (
            <article
              key={row.key}
              ref={virtualizer.measureElement}
              data-index={row.index}
              tabIndex={row.index === active ? 0 : -1}
              aria-label={nameOf(item)}
              aria-posinset={row.index + 1}
              aria-setsize={total ?? -1}
              className={`${styles.row} ${row.index === active ? styles.active : ""}`}
              style={{ transform: `translateY(${row.start}px)` }}
              onFocus={() => {
                focused.current = keyOf(item);
                onActive(row.index);
              }}
              onBlur={(event) => {
                if (event.relatedTarget !== null) focused.current = null;
              }}
              onPointerEnter={() => setPointed(row.index)}
              onClick={(event) => {
                onActive(row.index);
                if (!(event.target as Element).closest("a, button")) onOpen?.(item);
              }}
            >
              <RowContent item={item} isActive={row.index === active} isPointed={row.index === pointed} render={render as RenderRow} />
            </article>
          );
        })}
      </div>
      {children}
    </div>
  );
}

type RenderRow = (item: unknown, isActive: boolean, isPointed: boolean) => ReactNode;

interface RowContentProps {
  item: unknown;
  isActive: boolean;
  isPointed: boolean;
  render: RenderRow;
}

/** Scrolling moves rows without rendering their content again. */
const RowContent = memo(function RowContent({ item, isActive, isPointed, render }: RowContentProps) {
  return render(item, isActive, isPointed);
});

const MOVES: Record<string, (active: number, count: number) => number> = {
  ArrowDown: (active) => active + 1,
  ArrowUp: (active) => active - 1,
  j: (active) => active + 1,
  k: (active) => active - 1,
  PageDown: (active) => active + 8,
  PageUp: (active) => active - 8,
  Home: () => 0,
  End: (_active, count) => count - 1,
};

/** The active item stays in the page, so that the focus is not lost when it is scrolled away. */
function withActive(range: number[], active: number, count: number): number[] {
  if (active >= count || range.includes(active)) return range;
  return [...range, active].sort((a, b) => a - b);
}
