import { MessageCircle } from "lucide-react";
import { Link } from "wouter";
import type { Knowledge } from "@/api/records";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { StateBadges } from "@/components/Badges";
import { Provenance } from "@/components/Provenance";
import { SafeInline } from "@/components/SafeText";
import { useT } from "@/i18n";
import { byAttribute, momentOf, spanOf, statementOf } from "./timeModel";
import type { Viewpoint } from "./TimePage";
import styles from "./FactTimeline.module.css";

/** Facts as bars from their beginning to their end, grouped by what they are about. */
export function FactTimeline({ records, viewpoint }: { records: readonly Knowledge[]; viewpoint: Viewpoint }) {
  const { label } = useT();
  return (
    <div className={styles.timeline}>
      {[...byAttribute(records)].map(([key, group]) => {
        const name = key.slice(key.indexOf(".") + 1);
        const title = key.startsWith("attribute.") ? label("attribute", name) : label("type", name);
        return (
          <section key={key} className={styles.group} aria-label={title}>
            <h3>{title}</h3>
            <ol>
              {group.map((record) => (
                <FactRow key={record.id} record={record} viewpoint={viewpoint} />
              ))}
            </ol>
          </section>
        );
      })}
    </div>
  );
}

function FactRow({ record, viewpoint }: { record: Knowledge; viewpoint: Viewpoint }) {
  const { t, label, date } = useT();
  const project = useProject();
  const { first, last, at, day } = viewpoint;
  const { from, to } = spanOf(record);
  const moment = momentOf(record, at);
  const place = (time: number) => Math.max(0, Math.min(100, (100 * (time - first)) / Math.max(1, last - first)));
  const [start, end] = [place(from), place(to ?? last)];
  const times = to === null ? t("time.since", { from: date(new Date(from)) }) : t("time.between", { from: date(new Date(from)), to: date(new Date(to)) });
  const { speaker } = statementOf(record);
  return (
    <li className={`${styles.row} ${styles[moment]}`}>
      <div className={styles.track} aria-hidden>
        <span className={`${styles.bar} ${to === null ? styles.open : ""}`} style={{ left: `${start}%`, width: `max(4px, ${end - start}%)` }} />
        {day !== undefined && <span className={styles.line} style={{ left: `${place(at)}%` }} />}
      </div>
      <p className={styles.text}>
        <SafeInline text={record.content} />
      </p>
      <div className={styles.meta}>
        <span className={styles.moment}>{label("time.moment", moment)}</span>
        <span className={styles.times}>{times}</span>
        {speaker && (
          <span className={styles.speaker}>
            <MessageCircle aria-hidden size={13} />
            {t("time.said_by", { name: speaker })}
          </span>
        )}
        <StateBadges record={record} />
        <Provenance record={record} />
        <Link href={pagePath(project, "browse", { record: record.id })} className={styles.link}>
          {t("time.open")}
        </Link>
      </div>
    </li>
  );
}
