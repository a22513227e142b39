import { GitCommitVertical, ListRestart } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { Link } from "wouter";
import { useRecordsById } from "@/api/entities";
import { useRecords, type Knowledge } from "@/api/records";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Button } from "@/components/Button";
import { TypeBadge } from "@/components/Badges";
import { Provenance } from "@/components/Provenance";
import { SafeInline } from "@/components/SafeText";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { chainsOf, momentOf, spanOf } from "./timeModel";
import type { Viewpoint } from "./TimePage";
import styles from "./Chains.module.css";

const PAGE = 20;

/** Records that were replaced, with the versions before and after them. */
export function Chains({ viewpoint }: { viewpoint: Viewpoint }) {
  const { t, tn } = useT();
  const superseded = useRecords({ superseded: true, order: "updated_at" });
  const [shown, setShown] = useState(PAGE);
  const { records } = superseded;
  const known = useMemo(() => new Set(records.map((record) => record.id)), [records]);
  const missing = useMemo(
    () => [...new Set(records.slice(0, shown * 2).map((record) => record.superseded_by))].filter((id): id is string => id != null && !known.has(id)),
    [records, known, shown],
  );
  const successors = useRecordsById(missing);
  const chains = useMemo(() => chainsOf([...records, ...successors.values()]), [records, successors]);
  const { onMarks } = viewpoint;
  useEffect(() => onMarks(records.map((record) => spanOf(record).to).filter((time) => time !== null)), [records, onMarks]);

  if (superseded.isError) return <ProblemView error={superseded.error} onRetry={() => void superseded.refetch()} />;
  if (superseded.isPending) return <Skeleton lines={6} />;
  if (records.length === 0) {
    return (
      <EmptyState icon={ListRestart} title={t("time.no_changes")}>
        {t("time.no_changes_hint")}
      </EmptyState>
    );
  }
  return (
    <>
      <ul className={styles.chains}>
        {chains.slice(0, shown).map((chain) => (
          <li key={chain[0]!.id} className={styles.chain}>
            <ol>
              {chain.map((record) => (
                <Version key={record.id} record={record} viewpoint={viewpoint} />
              ))}
            </ol>
          </li>
        ))}
      </ul>
      {chains.length > shown && (
        <div className={styles.more}>
          <Button size="s" onPress={() => setShown(shown + PAGE)}>
            {tn("map.more", chains.length - shown)}
          </Button>
        </div>
      )}
    </>
  );
}

function Version({ record, viewpoint }: { record: Knowledge; viewpoint: Viewpoint }) {
  const { t, label, date } = useT();
  const project = useProject();
  const moment = momentOf(record, viewpoint.at);
  const { from, to } = spanOf(record);
  const times = to === null ? t("time.since", { from: date(new Date(from)) }) : t("time.between", { from: date(new Date(from)), to: date(new Date(to)) });
  return (
    <li className={`${styles.version} ${styles[moment]}`}>
      <GitCommitVertical aria-hidden size={18} className={styles.dot} />
      <div className={styles.content}>
        <p className={styles.head}>
          <TypeBadge type={record.type} />
          <span>{times}</span>
          <span className={styles.moment}>{label("time.moment", moment)}</span>
        </p>
        <p className={styles.text}>
          <SafeInline text={record.content} />
        </p>
        <div className={styles.foot}>
          <Provenance record={record} />
          <Link href={pagePath(project, "browse", { record: record.id })}>{t("time.open")}</Link>
        </div>
      </div>
    </li>
  );
}
