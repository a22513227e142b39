import { Link } from "wouter";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { SafeText } from "@/components/SafeText";
import { useT } from "@/i18n";
import styles from "./RecordText.module.css";

/** Stored text, and a link to the record if it is one. */
export function RecordText({ text, record }: { text: string; record: string | null }) {
  const { t } = useT();
  const project = useProject();
  return (
    <div className={styles.text}>
      <SafeText text={text} />
      {record && (
        <Link href={pagePath(project, "browse", { record })} className={styles.link} aria-label={`${t("sessions.open_record")}: ${text}`}>
          {t("sessions.open_record")}
        </Link>
      )}
    </div>
  );
}
