import type { InjectedItem } from "@/api/sessions";
import { Badge, TypeBadge } from "@/components/Badges";
import { useT } from "@/i18n";
import styles from "./GivenItem.module.css";
import { RecordText } from "./RecordText";

const TONES: Record<string, "green" | "red" | "grey"> = { used: "green", contradicted: "red" };

/** One item that the agent was given: what, why, and what the session did with it. */
export function GivenItem({ item }: { item: InjectedItem }) {
  const { t, tn, label } = useT();
  const outcome = item.outcome ?? "open";
  return (
    <li className={styles.item}>
      <p className={styles.head}>
        {item.type && <TypeBadge type={item.type} />}
        <Badge tone={TONES[outcome] ?? "grey"}>{label("item_outcome", outcome)}</Badge>
        <span className={styles.tokens}>{tn("sessions.tokens", item.tokens ?? 0)}</span>
      </p>
      <RecordText text={item.text || item.item} record={item.kind === "knowledge" ? item.item : null} />
      {item.reason && (
        <p className={styles.reason}>
          {t("sessions.because")} <span lang="en">{item.reason}</span>
        </p>
      )}
    </li>
  );
}
