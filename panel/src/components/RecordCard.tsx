import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { useT } from "@/i18n";
import { ConfidenceDots, StateBadges, TypeBadge } from "./Badges";
import { Provenance } from "./Provenance";
import { SafeInline, SafeText } from "./SafeText";
import styles from "./RecordCard.module.css";

export interface RecordCardProps {
  record: Schemas["Knowledge"];
  /** Buttons of the card. */
  actions?: ReactNode;
  /** Show the whole text and every field of the provenance. */
  isFull?: boolean;
  /** Beside the badges, such as the score of a search. */
  aside?: ReactNode;
}

/** A record of knowledge: type, confidence, states, text, and always its provenance. */
export function RecordCard({ record, actions, isFull = false, aside }: RecordCardProps) {
  const { tn } = useT();
  return (
    <div className={styles.card}>
      <div className={styles.head}>
        <TypeBadge type={record.type} />
        <ConfidenceDots value={record.confidence ?? 0} />
        <StateBadges record={record} />
        <span className={styles.aside}>
          {aside}
          {(record.uses ?? 0) > 0 && <span>{tn("record.used", record.uses ?? 0)}</span>}
        </span>
      </div>
      <div className={isFull ? styles.whole : styles.text}>
        {isFull ? <SafeText text={record.content} /> : <SafeInline text={record.content} />}
      </div>
      <div className={isFull ? styles.wholeFoot : styles.foot}>
        <Provenance record={record} isFull={isFull} />
        {(record.tags ?? []).length > 0 && (
          <ul className={styles.tags}>
            {(record.tags ?? []).slice(0, isFull ? undefined : 4).map((tag) => (
              <li key={tag} className={styles.tag}>
                {tag}
              </li>
            ))}
          </ul>
        )}
        {actions && <div className={styles.actions}>{actions}</div>}
      </div>
    </div>
  );
}
