import { useState } from "react";
import { Label, Radio, RadioGroup } from "react-aria-components";
import type { Schemas } from "@/api/client";
import type { Knowledge } from "@/api/records";
import { useRecordActions } from "@/api/recordActions";
import { useSearch } from "@/api/search";
import { useT } from "@/i18n";
import { Button } from "./Button";
import styles from "./CorrectDialog.module.css";
import { Dialog } from "./Dialog";
import { TextField } from "./Fields";
import { SafeText } from "./SafeText";

type Reason = NonNullable<Schemas["CorrectRequest"]["reason"]>;
const REASONS: readonly Reason[] = ["inaccurate", "outdated", "too_specific", "duplicate"];
const SIMILAR = 6;

/** Corrects a record: what is wrong with it, and what is true instead. The old version is kept. */
export function CorrectDialog({ record, onClose }: { record: Knowledge; onClose: () => void }) {
  const { t, label } = useT();
  const actions = useRecordActions();
  const [reason, setReason] = useState<Reason>("inaccurate");
  const [text, setText] = useState(record.content);
  const [original, setOriginal] = useState<string | null>(null);
  const isDuplicate = reason === "duplicate";
  const isReady = isDuplicate ? original !== null : reason === "outdated" || (text.trim() !== "" && text.trim() !== record.content);

  const save = () => {
    const corrected = text.trim() !== "" && text.trim() !== record.content && !isDuplicate;
    actions.correct(record, {
      reason,
      ...(corrected && { text: text.trim() }),
      ...(isDuplicate && { duplicate_of: original }),
    } as Schemas["CorrectRequest"]);
    onClose();
  };
  const footer = (
    <>
      <Button variant="quiet" onPress={onClose}>
        {t("common.cancel")}
      </Button>
      <Button variant="primary" isDisabled={!isReady} onPress={save}>
        {t("correct.save")}
      </Button>
    </>
  );
  return (
    <Dialog title={t("correct.title")} isOpen onClose={onClose} footer={footer} kind="wide">
      <div className={styles.form}>
        <blockquote className={styles.original}>
          <SafeText text={record.content} />
        </blockquote>
        <Choice label={t("correct.what")} value={reason} onChange={(value) => setReason(value as Reason)} options={REASONS.map((id) => ({ id, label: label("correct.reason", id) }))} />
        {isDuplicate ? (
          <Originals record={record} value={original} onChange={setOriginal} />
        ) : (
          <TextField label={t(reason === "outdated" ? "correct.text_optional" : "correct.text")} value={text} onChange={setText} rows={5} />
        )}
      </div>
    </Dialog>
  );
}

/** Similar records, one of which is the original of a duplicate. */
function Originals({ record, value, onChange }: { record: Knowledge; value: string | null; onChange: (id: string) => void }) {
  const { t } = useT();
  const found = useSearch({ query: record.content.slice(0, 500), limit: SIMILAR + 1, code: false, where: { kinds: ["knowledge"] } } as Schemas["SearchRequest"]);
  const options = (found.data?.hits ?? []).filter((hit) => hit.id !== record.id).slice(0, SIMILAR).map((hit) => ({ id: hit.id, label: hit.text }));
  if (options.length === 0) return <p>{t(found.isPending ? "common.loading" : "correct.no_similar")}</p>;
  return <Choice label={t("correct.original")} value={value ?? ""} onChange={onChange} options={options} />;
}

interface ChoiceProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  options: readonly { id: string; label: string }[];
}

function Choice({ label, value, onChange, options }: ChoiceProps) {
  return (
    <RadioGroup value={value} onChange={onChange} className={styles.choice!}>
      <Label className={styles.label!}>{label}</Label>
      {options.map((option) => (
        <Radio key={option.id} value={option.id} className={styles.radio!}>
          <span className={styles.dot} aria-hidden />
          <span>{option.label}</span>
        </Radio>
      ))}
    </RadioGroup>
  );
}
