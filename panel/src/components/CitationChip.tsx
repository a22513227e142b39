import { BookMarked, Flag } from "lucide-react";
import { Button as AriaButton, Dialog, DialogTrigger, Popover } from "react-aria-components";
import { Link } from "wouter";
import { useRecordActions } from "@/api/recordActions";
import { useRecord, type FoundRecord, type Knowledge } from "@/api/records";
import { useProject } from "@/app/project";
import { recordPath } from "@/app/recordPath";
import { useT } from "@/i18n";
import { ConfidenceDots, StateBadges, TypeBadge } from "./Badges";
import { Button } from "./Button";
import styles from "./CitationChip.module.css";
import { Provenance } from "./Provenance";
import { Skeleton } from "./States";

interface CitationChipProps {
  /** Complete or short, as in `[Memory #id: text]`. */
  id: string;
  text?: string | undefined;
  /** Shown instead of the text if a text cites many records. */
  number?: number | undefined;
}

/** A record that an agent cites: amber, red for dead ends. Pressed, it shows the record, to open it or to flag it. */
export function CitationChip({ id, text, number }: CitationChipProps) {
  const { t } = useT();
  const found = useRecord(id);
  const record = knowledgeOf(found.data);
  const shown = text || record?.content || id;
  const name = t(record?.type === "dead_end" ? "citation.dead_end" : "citation.record", { text: shown });
  const tone = record?.flagged ? styles.flagged : record?.type === "dead_end" ? styles.deadEnd : "";
  return (
    <DialogTrigger>
      <AriaButton
        className={`${styles.chip} ${tone}`}
        aria-label={number === undefined ? name : `${number} ${name}`}
      >
        {number === undefined ? <BookMarked aria-hidden size={12} className={styles.icon} /> : number}
        {number === undefined && <span className={styles.text}>{shown}</span>}
      </AriaButton>
      <Popover className={styles.popover!} offset={6}>
        <Dialog className={styles.dialog!} aria-label={t("citation.title")}>
          {({ close }) => (
            <>
              {found.isPending && <Skeleton lines={2} />}
              {found.isError && <p>{t("citation.gone")}</p>}
              {found.data && <Cited found={found.data} text={shown} onDone={close} />}
            </>
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

function Cited({ found, text, onDone }: { found: FoundRecord; text: string; onDone: () => void }) {
  const { t } = useT();
  const project = useProject();
  const actions = useRecordActions();
  const record = knowledgeOf(found);
  const path = recordPath(project, found);
  const flag = () => {
    if (record) actions.flag(record);
    onDone();
  };
  return (
    <>
      {record && (
        <p className={styles.head}>
          <TypeBadge type={record.type} />
          <ConfidenceDots value={record.confidence} />
          <StateBadges record={record} />
        </p>
      )}
      <p className={styles.content}>{record?.content ?? text}</p>
      {record && <Provenance record={record} />}
      <p className={styles.actions}>
        {path && <Link href={path}>{t("citation.open")}</Link>}
        {record && (
          <Button size="s" variant="danger" icon={Flag} isDisabled={record.flagged} onPress={flag}>
            {t("action.flag")}
          </Button>
        )}
      </p>
    </>
  );
}

function knowledgeOf(found: FoundRecord | undefined): Knowledge | undefined {
  return found?.kind === "knowledge" ? (found.record as Knowledge) : undefined;
}
