import { FileText, GitCommitHorizontal, Link2, MessagesSquare, Quote, UserRound } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Schemas } from "@/api/client";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { useT } from "@/i18n";
import styles from "./Provenance.module.css";

type Knowledge = Schemas["Knowledge"];
const FILES_SHOWN = 2;

/** Where a record comes from: who, when, session, commit, files, evidence. Shown with every record. */
export function Provenance({ record, isFull = false }: { record: Knowledge; isFull?: boolean }) {
  const { t, tn, label, ago, dateTime } = useT();
  const project = useProject();
  const files = record.files ?? [];
  const shown = isFull ? files : files.slice(0, FILES_SHOWN);
  const evidence = (record.source_ids ?? []).length;
  const sessions = (record.provenance_sessions ?? []).length;
  const phase = record.work_unit?.hierarchy.at(-1);
  return (
    <ul className={`${styles.list} ${isFull ? styles.full : ""}`} aria-label={t("provenance.title")}>
      <Item icon={<UserRound aria-hidden size={13} />}>
        {label("source", record.source ?? "agent_explicit")}
        {record.owner && record.owner !== "local" ? ` · ${record.owner}` : ""}
        {phase ? ` · ${phase}` : ""}
      </Item>
      <Item>
        <time dateTime={record.created_at} title={dateTime(record.created_at)}>
          {isFull ? dateTime(record.created_at) : ago(record.created_at)}
        </time>
      </Item>
      {record.session && (
        <Item icon={<MessagesSquare aria-hidden size={13} />}>
          <Link href={pagePath(project, "sessions", { id: record.session })} className={styles.link} title={record.session}>
            {isFull ? record.session : shortened(record.session)}
          </Link>
        </Item>
      )}
      {record.commit && (
        <Item icon={<GitCommitHorizontal aria-hidden size={13} />}>
          <code title={record.commit}>{record.commit.slice(0, 8)}</code>
        </Item>
      )}
      {shown.map((file) => (
        <Item key={file} icon={<FileText aria-hidden size={13} />}>
          <code className={styles.file} title={file}>
            {isFull ? file : file.split("/").slice(-2).join("/")}
          </code>
        </Item>
      ))}
      {files.length > shown.length && <Item>{tn("provenance.more_files", files.length - shown.length)}</Item>}
      {evidence > 0 && <Item icon={<Link2 aria-hidden size={13} />}>{tn("provenance.evidence", evidence)}</Item>}
      {sessions > 1 && <Item icon={<Quote aria-hidden size={13} />}>{tn("provenance.sessions", sessions)}</Item>}
      {record.tainted && record.taint && <Item>{t("provenance.taint", { source: [record.taint.source, record.taint.reason && `(${record.taint.reason})`].filter(Boolean).join(" ") })}</Item>}
    </ul>
  );
}

function Item({ icon, children }: { icon?: ReactNode; children: ReactNode }) {
  return (
    <li className={styles.item}>
      {icon}
      <span className={styles.text}>{children}</span>
    </li>
  );
}

function shortened(id: string): string {
  return id.length > 18 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id;
}
