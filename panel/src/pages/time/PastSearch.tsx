import { Search, SearchX } from "lucide-react";
import { useDeferredValue, useEffect, useState } from "react";
import { Link } from "wouter";
import type { Knowledge } from "@/api/records";
import { useSearch, type SearchHit } from "@/api/search";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Badge } from "@/components/Badges";
import { SearchField } from "@/components/Fields";
import { RecordCard } from "@/components/RecordCard";
import { SafeInline } from "@/components/SafeText";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import type { Viewpoint } from "./TimePage";
import styles from "./PastSearch.module.css";

/** Search in what was known on the chosen day. */
export function PastSearch({ viewpoint }: { viewpoint: Viewpoint }) {
  const { t, date } = useT();
  const [text, setText] = useState("");
  const words = useDeferredValue(text.trim());
  const { day, at, onMarks } = viewpoint;
  const found = useSearch({ query: words, limit: 30, ...(day !== undefined && { as_of: new Date(at).toISOString() }), code: false } as Parameters<typeof useSearch>[0], words !== "");
  useEffect(() => onMarks([]), [onMarks]);
  const hits = words === "" ? undefined : found.data?.hits;
  return (
    <div className={styles.search}>
      <SearchField label={t("time.search")} value={text} onChange={setText} />
      <p className={styles.note} role="status">
        {day === undefined ? t("time.search_now") : t("time.search_then", { day: date(`${day}T12:00:00Z`) })}
      </p>
      {words === "" ? (
        <EmptyState icon={Search} title={t("time.search_empty")}>
          {t("time.search_hint")}
        </EmptyState>
      ) : found.isError ? (
        <ProblemView error={found.error} onRetry={() => void found.refetch()} />
      ) : !hits ? (
        <Skeleton lines={6} />
      ) : hits.length === 0 ? (
        <EmptyState icon={SearchX} title={t("time.search_none")}>
          {t("time.search_none_hint")}
        </EmptyState>
      ) : (
        <ul className={styles.hits}>
          {hits.map((hit) => (
            <li key={hit.id}>
              <Hit hit={hit as SearchHit} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Hit({ hit }: { hit: SearchHit }) {
  const { t, label } = useT();
  const project = useProject();
  const open = hit.kind === "knowledge" && (
    <Link href={pagePath(project, "browse", { record: hit.id })} className={styles.open}>
      {t("time.open")}
    </Link>
  );
  if (hit.kind === "knowledge") return <RecordCard record={hit.record as Knowledge} actions={open} />;
  return (
    <>
      <Badge>{label("time.kind_of", hit.kind)}</Badge>
      <p className={styles.text}>
          <SafeInline text={hit.text} />
        </p>
      <p className={styles.source}>{hit.source}</p>
    </>
  );
}
