import { BellOff, CircleAlert, CircleCheck, CircleDashed, Flag, Pin, ShieldAlert, TimerOff, Trash2, type LucideIcon } from "lucide-react";
import type { Schemas } from "@/api/client";
import { useT, type MessageKey } from "@/i18n";
import styles from "./Badges.module.css";

type Tone = "green" | "amber" | "red" | "blue" | "violet" | "grey";

const TONES: Record<string, Tone> = {
  gotcha: "amber",
  error_pattern: "amber",
  dead_end: "red",
  decision: "violet",
  requirement: "violet",
  preference: "green",
  fact: "green",
  pattern: "blue",
  workflow_recipe: "blue",
  module_insight: "blue",
  causal_dependency: "blue",
};

/** The type of a record. */
export function TypeBadge({ type }: { type: string }) {
  const { label } = useT();
  return <Badge tone={TONES[type] ?? "grey"}>{label("type", type)}</Badge>;
}

export function Badge({ tone = "grey", children }: { tone?: Tone; children: React.ReactNode }) {
  return <span className={`${styles.badge} ${styles[tone]}`}>{children}</span>;
}

/** Confidence as five dots; the exact share is in the tooltip and the accessible name. */
export function ConfidenceDots({ value }: { value: number }) {
  const { t, percent } = useT();
  const text = t("record.confidence", { share: percent(value) });
  const filled = Math.round(value * 5);
  return (
    <span className={styles.dots} role="img" aria-label={text} title={text}>
      {[1, 2, 3, 4, 5].map((dot) => (
        <span key={dot} className={dot <= filled ? styles.filled : styles.dot} />
      ))}
    </span>
  );
}

type Knowledge = Schemas["Knowledge"];
interface State {
  label: MessageKey;
  icon: LucideIcon;
  tone: Tone;
  applies: (record: Knowledge) => boolean;
}

const STATES: readonly State[] = [
  { label: "state.forgotten", icon: Trash2, tone: "red", applies: (record) => record.deleted_at != null },
  { label: "state.flagged", icon: Flag, tone: "red", applies: (record) => record.flagged === true },
  { label: "state.tainted", icon: ShieldAlert, tone: "amber", applies: (record) => record.tainted === true },
  { label: "state.needs_review", icon: CircleAlert, tone: "amber", applies: (record) => record.needs_review === true },
  { label: "state.stale", icon: TimerOff, tone: "amber", applies: (record) => record.stale_at != null },
  { label: "state.superseded", icon: CircleDashed, tone: "grey", applies: (record) => record.deprecated_at != null },
  { label: "state.muted", icon: BellOff, tone: "grey", applies: (record) => record.muted === true },
  { label: "state.pinned", icon: Pin, tone: "green", applies: (record) => record.pinned === true },
  { label: "state.confirmed", icon: CircleCheck, tone: "green", applies: (record) => record.user_verified === true },
];

/** The states that apply to a record: flagged, pinned, outdated… */
export function StateBadges({ record }: { record: Knowledge }) {
  const { t } = useT();
  return STATES.filter((state) => state.applies(record)).map(({ label, icon: Icon, tone }) => (
    <span key={label} className={`${styles.state} ${styles[`ink-${tone}`]}`}>
      <Icon aria-hidden size={13} />
      {t(label)}
    </span>
  ));
}
