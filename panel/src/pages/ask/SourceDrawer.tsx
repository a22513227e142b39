import { Link } from "wouter";
import type { Citation } from "@/api/ask";
import type { Schemas } from "@/api/client";
import { useRecord } from "@/api/records";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Dialog } from "@/components/Dialog";
import { RecordCard } from "@/components/RecordCard";
import { SafeText } from "@/components/SafeText";
import { ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import styles from "./Ask.module.css";

type Found = NonNullable<ReturnType<typeof useRecord>["data"]>;

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

function Source({ found, citation }: { found: Found; citation: Citation }) {
  const { t } = useT();
  const project = useProject();
  const target = targetOf(project, found);
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

function textOf({ kind, record }: Found, citation: Citation): string {
  if (kind === "turn") return (record as Schemas["Turn"]).text;
  if (kind === "episode") return (record as Schemas["Episode"]).task.input;
  return citation.text;
}

/** The page on which the record is shown with everything around it. */
function targetOf(project: string, { kind, record }: Found): string | undefined {
  if (kind === "knowledge") return pagePath(project, "browse", { record: record.id });
  if (kind === "episode") return pagePath(project, "episodes", { episode: record.id });
  if (kind === "pattern") return pagePath(project, "episodes", { tab: "patterns", pattern: record.id });
  const { session } = record as Schemas["Turn"];
  return session ? pagePath(project, "sessions", { id: session }) : undefined;
}
