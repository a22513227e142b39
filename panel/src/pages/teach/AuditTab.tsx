import { ScrollText } from "lucide-react";
import { Link, useSearchParams } from "wouter";
import { useAudit, type AuditAction, type AuditEntry } from "@/api/maintenance";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Badge } from "@/components/Badges";
import { Button } from "@/components/Button";
import { MultiSelect } from "@/components/Fields";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import styles from "./Teach.module.css";

const ACTIONS: readonly AuditAction[] = [
  "create", "import", "update", "confirm", "correct", "supersede", "reinforce", "flag", "pin", "unpin",
  "mute", "unmute", "delete", "undo", "purge", "inject", "export", "backup", "repair",
];
const DANGEROUS: readonly string[] = ["delete", "purge", "flag"];

/** Who did what to which record, newest first. */
export function AuditTab() {
  const { t, label } = useT();
  const [parameters, setParameters] = useSearchParams();
  const actions = parameters.getAll("action") as AuditAction[];
  const audit = useAudit(actions);
  const choose = (values: readonly AuditAction[]) => setParameters(new URLSearchParams([["tab", "audit"], ...values.map((each) => ["action", each])]));
  return (
    <div className={styles.stack}>
      <div className={styles.bar}>
        <MultiSelect label={t("teach.audit.action")} options={ACTIONS.map((id) => ({ id, label: label("audit_action", id) }))} values={actions} onChange={choose} />
        <span className={styles.note}>{t("teach.audit.why")}</span>
      </div>
      {audit.isError && <ProblemView error={audit.error} onRetry={() => void audit.refetch()} />}
      {audit.isPending && <Skeleton lines={8} />}
      {audit.isSuccess && audit.entries.length === 0 && <EmptyState icon={ScrollText} title={t("teach.audit.none")} />}
      {audit.entries.length > 0 && (
        <div className={styles.scroll} role="region" aria-label={t("teach.audit.tab")} tabIndex={0}>
          <table className={`${styles.table} ${styles.audit}`}>
            <thead>
              <tr>
                <th scope="col">{t("teach.audit.time")}</th>
                <th scope="col">{t("teach.audit.action")}</th>
                <th scope="col">{t("teach.audit.subject")}</th>
                <th scope="col">{t("teach.audit.detail")}</th>
                <th scope="col">{t("teach.audit.actor")}</th>
              </tr>
            </thead>
            <tbody>
              {audit.entries.map((entry) => (
                <Entry key={entry.id} entry={entry} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {audit.hasNextPage && (
        <div>
          <Button onPress={() => void audit.fetchNextPage()} isDisabled={audit.isFetchingNextPage}>
            {t("teach.audit.more")}
          </Button>
        </div>
      )}
    </div>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  const { label, dateTime } = useT();
  const project = useProject();
  const target = targetOf(project, entry);
  const subject = entry.subject.length > 24 ? `…${entry.subject.slice(-12)}` : entry.subject;
  return (
    <tr>
      <td className={styles.when}>
        <time dateTime={entry.at}>{dateTime(entry.at)}</time>
      </td>
      <td>
        <Badge tone={DANGEROUS.includes(entry.action) ? "red" : "grey"}>{label("audit_action", entry.action)}</Badge>
      </td>
      <td className={styles.when}>
        {label("kind", entry.kind)} {target ? <Link href={target} title={entry.subject}>{subject}</Link> : <span title={entry.subject}>{subject}</span>}
      </td>
      <td className={styles.detail}>
        {detailsOf(entry.detail)
          .map(([name, value]) => `${label("audit_detail", name)}: ${value}`)
          .join(" · ")}
      </td>
      <td>{entry.actor}</td>
    </tr>
  );
}

function targetOf(project: string, { kind, subject }: AuditEntry): string | undefined {
  if (kind === "knowledge") return pagePath(project, "browse", { record: subject });
  if (kind === "episode") return pagePath(project, "episodes", { episode: subject });
  if (kind === "pattern") return pagePath(project, "episodes", { tab: "patterns", pattern: subject });
  return undefined;
}

/** Names and values of what an entry notes, without empty values and lists. */
function detailsOf(detail: Readonly<Record<string, unknown>>): [string, string][] {
  const shown = Object.entries(detail).filter(([, value]) => value !== null && value !== "" && !Array.isArray(value));
  return shown.map(([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : String(value)]);
}
