import { Link } from "wouter";
import type { Citation } from "@/api/ask";
import type { Schemas } from "@/api/client";
import { useRecord, type FoundRecord } from "@/api/records";
import { useProject } from "@/app/project";
import { recordPath } from "@/app/recordPath";
import { Dialog } from "@/components/Dialog";
import { RecordCard } from "@/components/RecordCard";
import { SafeText } from "@/components/SafeText";
import { ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import styles from "./Ask.module.css";

/** The record that a passage quotes, in full. */
export function SourceDrawer({ citation, onClose }: { citation: Citation | null; onClose: () => void }) {
  const { t } = useT();
  const record = useRecord(citation?.id);
  return (
    <Dialog title={t("ask.source", { number: citation?.number ?? "" })} isOpen={citation !== null} onClose={onClose} kind="drawer">
      {record.isPending && <Skeleton lines={6} />}
      {record.isError && <ProblemView error={record.error} onRetry={() => void record.refetch()} />}
      {record.data && citation && <Source found={record.data} citation={citation} />}
    </Dialog>
  );
}

function Source({ found, citation }: { found: FoundRecord; citation: Citation }) {
  const { t } = useT();
  const project = useProject();
  const target = recordPath(project, found);
  return (
    <div className={styles.page}>
      {found.kind === "knowledge" ? (
        <RecordCard record={found.record as Schemas["Knowledge"]} isFull />
      ) : (
        <>
          <p className={styles.source}>{citation.source}</p>
          <SafeText text={textOf(found, citation)} />
        </>
      )}
      {target && <Link href={target}>{t("ask.open_page")}</Link>}
    </div>
  );
}

function textOf({ kind, record }: FoundRecord, citation: Citation): string {
  if (kind === "turn") return (record as Schemas["Turn"]).text;
  if (kind === "episode") return (record as Schemas["Episode"]).task.input;
  return citation.text;
}
