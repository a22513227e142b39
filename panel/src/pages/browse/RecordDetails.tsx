import { X } from "lucide-react";
import { Link } from "wouter";
import type { Schemas } from "@/api/client";
import { useHistory, useRecord, type FoundRecord, type Knowledge } from "@/api/records";
import { recordPath } from "@/app/recordPath";
import { useProject } from "@/app/project";
import { IconButton } from "@/components/Button";
import { RecordActionBar } from "@/components/RecordActionBar";
import { RecordCard } from "@/components/RecordCard";
import { SafeText } from "@/components/SafeText";
import { ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import styles from "./RecordDetails.module.css";

interface RecordDetailsProps {
  id: string;
  onAction: (action: string, record: Knowledge) => void;
  onOpen: (id: string) => void;
  onClose: () => void;
  /** Whether to show a heading with a button to close; a dialog has its own. */
  hasHeading: boolean;
}

/** The whole record: text, provenance, fields, relations and history. */
export function RecordDetails({ id, onAction, onOpen, onClose, hasHeading }: RecordDetailsProps) {
  const { t } = useT();
  const found = useRecord(id);
  return (
    <div className={styles.details}>
      {hasHeading && (
        <header className={styles.header}>
          <h2>{t("record.details")}</h2>
          <IconButton icon={X} label={t("common.close")} onPress={onClose} />
        </header>
      )}
      {found.isError && <ProblemView error={found.error} />}
      {found.isPending && <Skeleton lines={6} />}
      {found.data &&
        (found.data.kind === "knowledge" ? (
          <Whole record={found.data.record as Knowledge} onAction={onAction} onOpen={onOpen} />
        ) : (
          <OtherKind found={found.data} />
        ))}
    </div>
  );
}

function Whole({ record, onAction, onOpen }: { record: Knowledge; onAction: RecordDetailsProps["onAction"]; onOpen: (id: string) => void }) {
  const { t, label, dateTime, number } = useT();
  const fields = Object.entries(record.payload ?? {}).filter(([, value]) => value !== null && value !== "" && !(Array.isArray(value) && value.length === 0));
  const related = [
    ...record.relations.flatMap((each) => (each.record ? [{ id: each.record, kind: each.kind as string }] : [])),
    ...(record.superseded_by ? [{ id: record.superseded_by, kind: "superseded_by" }] : []),
  ];
  return (
    <>
      <div className={styles.actions} role="toolbar" aria-label={t("record.actions")}>
        <RecordActionBar record={record} onAction={onAction} />
      </div>
      <RecordCard record={record} isFull />
      <dl className={styles.fields}>
        <Field name={t("record.id")}><code>{record.id}</code></Field>
        <Field name={t("record.version")}>{number(record.version)}</Field>
        <Field name={t("record.changed")}>{dateTime(record.updated_at)}</Field>
        <Field name={t("record.last_used")}>{dateTime(record.last_accessed_at)}</Field>
        {record.modules.length > 0 && <Field name={t("record.modules")}>{record.modules.join(", ")}</Field>}
        {record.valid_until && <Field name={t("record.valid_until")}>{dateTime(record.valid_until)}</Field>}
        {fields.map(([name, value]) => (
          <Field key={name} name={label("payload", name)}>
            <SafeText text={typeof value === "string" ? value : JSON.stringify(value, null, 1)} isPlain />
          </Field>
        ))}
      </dl>
      {record.source_ids.length > 0 && (
        <section>
          <h3>{t("record.evidence")}</h3>
          <ul className={styles.related}>
            {record.source_ids.map((id) => (
              <li key={id}><OpenButton id={id} onOpen={onOpen} /></li>
            ))}
          </ul>
        </section>
      )}
      {related.length > 0 && (
        <section>
          <h3>{t("record.relations")}</h3>
          <ul className={styles.related}>
            {related.map((each) => (
              <li key={`${each.kind} ${each.id}`}>
                {label("relation", each.kind)} <OpenButton id={each.id} onOpen={onOpen} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <RecordHistory id={record.id} />
    </>
  );
}

/** Names another record by its text; by its id until it is loaded, and if it cannot be. */
function OpenButton({ id, onOpen }: { id: string; onOpen: (id: string) => void }) {
  const found = useRecord(id);
  return (
    <button type="button" className={styles.open} onClick={() => onOpen(id)} title={id}>
      {found.data ? textOf(found.data) : <code>{id}</code>}
    </button>
  );
}

function textOf({ kind, record }: FoundRecord): string {
  if (kind === "knowledge") return (record as Knowledge).content;
  if (kind === "turn") return (record as Schemas["Turn"]).text;
  if (kind === "episode") return (record as Schemas["Episode"]).task.input;
  return (record as Schemas["Pattern"]).name;
}

function Field({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className={styles.field}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function RecordHistory({ id }: { id: string }) {
  const { t, label, ago, dateTime } = useT();
  const history = useHistory(id);
  return (
    <section>
      <h3>{t("record.history")}</h3>
      {history.isError && <ProblemView error={history.error} />}
      {history.isPending && <Skeleton lines={2} />}
      <ol className={styles.history}>
        {history.data?.entries.map((entry, index) => (
          <li key={`${entry.at} ${index}`} className={entry.undone ? styles.undone : ""}>
            <span>
              <strong>{label("history", entry.action)}</strong> {t("record.by", { actor: entry.actor })}
            </span>
            <time dateTime={entry.at} title={dateTime(entry.at)}>{ago(entry.at)}</time>
            {entry.content_before && <p className={styles.before}>{entry.content_before}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}

function OtherKind({ found }: { found: FoundRecord }) {
  const { t } = useT();
  const project = useProject();
  const path = recordPath(project, found);
  return (
    <>
      {path && <Link href={path}>{t("record.open_there")}</Link>}
      <pre className={styles.raw}>{JSON.stringify(found.record, null, 2)}</pre>
    </>
  );
}
