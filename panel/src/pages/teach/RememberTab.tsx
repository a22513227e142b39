import { FileText } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { useRecordActions } from "@/api/recordActions";
import { useRecords } from "@/api/records";
import { useRemember } from "@/api/teaching";
import { Button } from "@/components/Button";
import { Checkbox } from "@/components/Checkbox";
import { Select, TextField } from "@/components/Fields";
import { Card } from "@/components/Layout";
import { RecordCard } from "@/components/RecordCard";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useToasts } from "@/components/Toasts";
import { useT } from "@/i18n";
import styles from "./Teach.module.css";

const TYPES = ["preference", "decision", "requirement", "gotcha", "fact", "workflow_recipe", "module_insight", "dead_end"] as const;
const COMMAND = /^\s*\/remember\s+/;
const LATEST = 10;

/** Store a rule or a fact, for the project or for files; beside it, what is known about them. */
export function RememberTab() {
  const { t, label } = useT();
  const toasts = useToasts();
  const actions = useRecordActions();
  const remember = useRemember();
  const [text, setText] = useState("");
  const [type, setType] = useState<string>("preference");
  const [files, setFiles] = useState("");
  const [tags, setTags] = useState("");
  const [isPinned, setPinned] = useState(false);
  const content = text.replace(COMMAND, "").trim();
  const paths = parts(files);

  const store = () =>
    remember.mutate(
      { text: content, type, files: paths, tags: parts(tags), pinned: isPinned },
      {
        onSuccess: (record) => {
          setText("");
          toasts.show(t("teach.remember.stored"), () => actions.forget(record));
        },
        onError: (error) => toasts.fail(t("teach.remember.failed"), error),
      },
    );
  return (
    <div className={styles.columns}>
      <Card title={t("teach.remember.title")}>
        <form
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault();
            if (content) store();
          }}
        >
          <TextField label={t("teach.remember.text")} value={text} onChange={setText} rows={4} placeholder={t("teach.remember.placeholder")} isRequired />
          <div className={styles.bar}>
            <Select label={t("teach.remember.type")} showLabel options={TYPES.map((id) => ({ id, label: label("type", id) }))} value={type} onChange={setType} />
            <Checkbox isSelected={isPinned} onChange={setPinned}>
              {t("teach.remember.pin")}
            </Checkbox>
          </div>
          <TextField label={t("teach.remember.files")} value={files} onChange={setFiles} placeholder="api/routes.py, api/limits.py" />
          <TextField label={t("teach.remember.tags")} value={tags} onChange={setTags} placeholder="auth, tests" />
          <div>
            <Button type="submit" variant="primary" isDisabled={content === "" || remember.isPending}>
              {t("teach.remember.store")}
            </Button>
          </div>
          <p className={styles.note}>{t("teach.remember.why")}</p>
        </form>
      </Card>
      <Known files={paths} />
    </div>
  );
}

/** Records of the given files, or the latest that a person taught. */
function Known({ files }: { files: readonly string[] }) {
  const { t } = useT();
  const asked = useDeferredValue(files.join("\n"));
  const paths = asked === "" ? [] : asked.split("\n");
  const records = useRecords({ files: paths, ...(paths.length === 0 && { sources: ["user_taught"] }), order: "created_at", descending: true });
  const title = paths.length > 0 ? t("teach.remember.about") : t("teach.remember.latest");
  return (
    <Card title={title}>
      {records.isError && <ProblemView error={records.error} onRetry={() => void records.refetch()} />}
      {records.isPending && <Skeleton lines={6} />}
      {records.isSuccess && records.records.length === 0 && (
        <EmptyState icon={FileText} title={t("teach.remember.none")}>
          {t("teach.remember.none_why")}
        </EmptyState>
      )}
      <ul className={styles.records}>
        {records.records.slice(0, LATEST).map((record) => (
          <li key={record.id}>
            <RecordCard record={record} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function parts(text: string): string[] {
  return text.split(/[,\n]/).map((each) => each.trim()).filter(Boolean);
}
