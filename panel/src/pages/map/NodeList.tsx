import { ArrowDown, ArrowUp, SearchX } from "lucide-react";
import { useMemo, useState } from "react";
import type { FileMap } from "@/api/code";
import { Button } from "@/components/Button";
import { EmptyState } from "@/components/States";
import { useT, type MessageKey } from "@/i18n";
import { codeMap, type CodeMap, type MapNode, type Measure } from "./mapModel";
import styles from "./NodeList.module.css";

interface NodeListProps {
  map: CodeMap;
  files: FileMap;
  /** Words that a name must contain. */
  words: string;
  measure: Measure;
  selected: string | undefined;
  onSelect: (id: string) => void;
}

type Column = "name" | "files" | Measure;
const COLUMNS: readonly [Column, MessageKey][] = [
  ["name", "map.name"],
  ["files", "map.files"],
  ["memories", "map.memories"],
  ["changes", "map.changes"],
  ["coverage", "map.coverage"],
];
const VALUES: Record<Column, (node: MapNode) => number | string> = {
  name: (node) => node.id,
  files: (node) => node.paths.length,
  memories: (node) => node.memories,
  changes: (node) => node.changes,
  coverage: (node) => node.coverage,
};
const PAGE = 150;

/** Everything on the map as a table, for keyboards, screen readers and searches. */
export function NodeList({ map, files, words, measure, selected, onSelect }: NodeListProps) {
  const { t, tn, label, number, percent } = useT();
  const [order, setOrder] = useState<{ by: Column; isDown: boolean } | null>(null);
  const [shown, setShown] = useState(PAGE);
  const { by, isDown } = order ?? { by: measure, isDown: true };
  // A search looks for files as well, whatever the map groups them to.
  const all = useMemo(() => {
    if (!words || map.nodes[0]?.kind === "file") return map.nodes;
    return [...map.nodes, ...codeMap(files, "files").nodes];
  }, [files, map, words]);
  const rows = useMemo(() => {
    const found = words ? all.filter((node) => node.id.toLowerCase().includes(words)) : [...all];
    return found.sort((a, b) => compared(VALUES[by](a), VALUES[by](b)) * (isDown ? -1 : 1) || compared(a.id, b.id));
  }, [all, by, isDown, words]);

  if (rows.length === 0) {
    return (
      <EmptyState icon={SearchX} title={t("map.none_found")}>
        {t("map.none_found_hint")}
      </EmptyState>
    );
  }
  return (
    <div className={styles.scroller} tabIndex={0} role="region" aria-label={t("map.as_list")}>
      <table className={styles.table}>
        <thead>
          <tr>
            {COLUMNS.map(([column, title]) => (
              <th key={column} scope="col" aria-sort={column === by ? (isDown ? "descending" : "ascending") : "none"} className={styles[column]}>
                <button type="button" onClick={() => setOrder({ by: column, isDown: column === by ? !isDown : column !== "name" })}>
                  {t(title)}
                  {column === by && (isDown ? <ArrowDown aria-hidden size={12} /> : <ArrowUp aria-hidden size={12} />)}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((node) => (
            <tr key={`${node.kind} ${node.id}`} className={node.id === selected ? styles.selected : ""}>
              <th scope="row" className={styles.name}>
                <button type="button" aria-pressed={node.id === selected} onClick={() => onSelect(node.id)}>
                  <span className={styles.label}>{node.kind === "file" ? node.id : node.label}</span>
                  <span className={styles.kind}>
                    {label("map.kind", node.kind)}
                    {node.kind !== "file" && ` · ${node.cluster || "/"}`}
                  </span>
                </button>
              </th>
              <td className={styles.files}>{number(node.paths.length)}</td>
              <td className={styles.memories}>{number(node.memories)}</td>
              <td className={styles.changes}>{number(node.changes, { maximumFractionDigits: 1 })}</td>
              <td className={styles.coverage}>{percent(node.coverage)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown && (
        <div className={styles.more}>
          <Button size="s" onPress={() => setShown(shown + PAGE)}>
            {tn("map.more", rows.length - shown)}
          </Button>
        </div>
      )}
    </div>
  );
}

function compared(a: number | string, b: number | string): number {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}
