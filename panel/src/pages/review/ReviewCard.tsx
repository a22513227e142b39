import { Check, Clock, Globe, Pencil, X, type LucideIcon } from "lucide-react";
import type { Knowledge } from "@/api/records";
import { ConfidenceDots, StateBadges, TypeBadge } from "@/components/Badges";
import { Button, type ButtonProps } from "@/components/Button";
import { Kbd } from "@/components/Layout";
import { Provenance } from "@/components/Provenance";
import { SafeText } from "@/components/SafeText";
import { useT } from "@/i18n";
import { KEYS, type Decision } from "./decisions";
import styles from "./ReviewCard.module.css";

const BUTTONS: readonly { decision: Decision; icon: LucideIcon; variant: NonNullable<ButtonProps["variant"]> }[] = [
  { decision: "confirm", icon: Check, variant: "primary" },
  { decision: "edit", icon: Pencil, variant: "normal" },
  { decision: "reject", icon: X, variant: "danger" },
  { decision: "later", icon: Clock, variant: "quiet" },
];

interface ReviewCardProps {
  record: Knowledge;
  isActive: boolean;
  describedBy: string;
  onActive: () => void;
  onDecide: (decision: Decision) => void;
}

/** A record that waits, with its whole text, its source if it comes from outside, and the four decisions. */
export function ReviewCard({ record, isActive, describedBy, onActive, onDecide }: ReviewCardProps) {
  const { t, label } = useT();
  return (
    <article
      data-record={record.id}
      tabIndex={isActive ? 0 : -1}
      aria-label={`${label("type", record.type)}: ${record.content}`}
      aria-describedby={describedBy}
      aria-current={isActive || undefined}
      className={`${styles.card} ${isActive ? styles.active : ""}`}
      onFocus={onActive}
      onClick={onActive}
    >
      <div className={styles.head}>
        <TypeBadge type={record.type} />
        <ConfidenceDots value={record.confidence ?? 0} />
        <StateBadges record={record} />
      </div>
      <div className={styles.text}>
        <SafeText text={record.content} />
      </div>
      {record.tainted && record.taint && (
        <p className={styles.source}>
          <Globe aria-hidden size={14} />
          <span>
            {t("review.source")} <strong>{record.taint.source}</strong>
            {record.taint.reason && ` (${record.taint.reason})`}
          </span>
        </p>
      )}
      <Provenance record={{ ...record, taint: null }} />
      <div className={styles.buttons}>
        {BUTTONS.map(({ decision, icon: Icon, variant }) => (
          <Button key={decision} size="s" variant={isActive || variant === "quiet" ? variant : "normal"} onPress={() => onDecide(decision)}>
            <span aria-hidden className={styles.sign}>
              <Icon size={14} className={styles.icon} />
              <span className={styles.key}>
                <Kbd>{KEYS[decision]}</Kbd>
              </span>
            </span>
            {t(`review.${decision}`)}
          </Button>
        ))}
      </div>
    </article>
  );
}
