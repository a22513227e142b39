import { BellOff, Check, Flag, Pencil, Pin, Trash2, Undo2, Waypoints, type LucideIcon } from "lucide-react";
import type { Knowledge } from "@/api/records";
import { useRecordActions } from "@/api/recordActions";
import { useT, type MessageKey } from "@/i18n";
import { IconButton } from "./Button";

export interface RecordAction {
  id: string;
  key: string;
  icon: LucideIcon;
  label: MessageKey;
  /** Label while the state is set. */
  active?: MessageKey;
  isActive?: (record: Knowledge) => boolean;
  isDanger?: boolean;
}

/** The actions on a record, with their keys. */
export const RECORD_ACTIONS: readonly RecordAction[] = [
  { id: "confirm", key: "c", icon: Check, label: "action.confirm", isActive: (record) => record.user_verified },
  { id: "correct", key: "e", icon: Pencil, label: "action.correct" },
  { id: "flag", key: "x", icon: Flag, label: "action.flag", isActive: (record) => record.flagged, isDanger: true },
  { id: "pin", key: "p", icon: Pin, label: "action.pin", active: "action.unpin", isActive: (record) => record.pinned },
  { id: "mute", key: "m", icon: BellOff, label: "action.mute", active: "action.unmute", isActive: (record) => record.muted },
  { id: "undo", key: "u", icon: Undo2, label: "action.undo" },
  { id: "explain", key: "i", icon: Waypoints, label: "action.explain" },
  { id: "forget", key: "Delete", icon: Trash2, label: "action.forget", isDanger: true },
];

/** Runs an action on a record. `correct` and `explain` open something, which the page does. */
export function useRunAction(open: (action: "correct" | "explain", record: Knowledge) => void) {
  const actions = useRecordActions();
  return (id: string, record: Knowledge) => {
    const runs: Record<string, () => void> = {
      confirm: () => actions.confirm(record),
      correct: () => open("correct", record),
      flag: () => actions.flag(record),
      pin: () => actions.pin(record, !record.pinned),
      mute: () => actions.mute(record, !record.muted),
      undo: () => actions.undo(record.id),
      explain: () => open("explain", record),
      forget: () => actions.forget(record),
    };
    runs[id]?.();
  };
}

interface RecordActionBarProps {
  record: Knowledge;
  onAction: (id: string, record: Knowledge) => void;
  /** Whether Tab reaches the buttons; in a list only those of the active record. */
  isReachable?: boolean;
}

export function RecordActionBar({ record, onAction, isReachable = true }: RecordActionBarProps) {
  const { t } = useT();
  return RECORD_ACTIONS.map((action) => {
    const isActive = action.isActive?.(record) ?? false;
    return (
      <IconButton
        key={action.id}
        icon={action.icon}
        label={t((isActive && action.active) || action.label)}
        hint={action.key}
        tone={action.isDanger ? "danger" : "normal"}
        isActive={isActive}
        excludeFromTabOrder={!isReachable}
        onPress={() => onAction(action.id, record)}
      />
    );
  });
}
