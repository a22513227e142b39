import { Copy, Download, FileUp } from "lucide-react";
import { useState } from "react";
import { FileTrigger } from "react-aria-components";
import { exportAddress, useExportRules, useImportRules, type RuleFileImport, type RuleStatement } from "@/api/teaching";
import { useProject } from "@/app/project";
import { TypeBadge } from "@/components/Badges";
import { Button } from "@/components/Button";
import { Checkbox } from "@/components/Checkbox";
import { TextField } from "@/components/Fields";
import { Card } from "@/components/Layout";
import { ProblemView } from "@/components/States";
import { useToasts } from "@/components/Toasts";
import { useT } from "@/i18n";
import styles from "./Teach.module.css";

/** Import of rule files with a preview, and export as a rule file or as a whole. */
export function RuleFilesTab() {
  return (
    <div className={styles.columns}>
      <ImportRules />
      <div className={styles.stack}>
        <ExportRules />
        <ExportProject />
      </div>
    </div>
  );
}

function ImportRules() {
  const { t, tn } = useT();
  const toasts = useToasts();
  const preview = useImportRules();
  const apply = useImportRules();
  const [name, setName] = useState("CLAUDE.md");
  const [text, setText] = useState("");
  const [isRetiring, setRetiring] = useState(false);
  const change = (next: { name?: string; text?: string }) => {
    if (next.name !== undefined) setName(next.name);
    if (next.text !== undefined) setText(next.text);
    preview.reset();
  };
  const show = (file = name, content = text, retire = isRetiring) => preview.mutate({ name: file, text: content, isDryRun: true, isRetiring: retire });
  const choose = async (file: File | undefined) => {
    if (!file) return;
    const content = await file.text();
    change({ name: file.name, text: content });
    show(file.name, content);
  };
  const run = () =>
    apply.mutate(
      { name, text, isDryRun: false, isRetiring },
      {
        onSuccess: (done) => {
          preview.reset();
          setText("");
          toasts.show(tn("teach.rules.imported", done.added.length + done.corrected.length + done.retired.length));
        },
        onError: (error) => toasts.fail(t("teach.rules.failed"), error),
      },
    );
  const changed = preview.data ? preview.data.added.length + preview.data.corrected.length + preview.data.retired.length : 0;
  return (
    <Card title={t("teach.rules.import")}>
      <div className={styles.form}>
        <p className={styles.note}>{t("teach.rules.import_why")}</p>
        <div className={styles.bar}>
          <FileTrigger onSelect={(list) => void choose(list?.[0])}>
            <Button icon={FileUp}>{t("teach.rules.choose")}</Button>
          </FileTrigger>
          <span className={styles.note}>CLAUDE.md · AGENTS.md · .cursorrules</span>
        </div>
        <TextField label={t("teach.rules.name")} value={name} onChange={(value) => change({ name: value })} />
        <TextField label={t("teach.rules.text")} value={text} onChange={(value) => change({ text: value })} rows={7} placeholder={t("teach.rules.placeholder")} />
        <Checkbox
          isSelected={isRetiring}
          onChange={(retire) => {
            setRetiring(retire);
            if (preview.data) show(name, text, retire);
          }}
        >
          {t("teach.rules.retire")}
        </Checkbox>
        <div className={styles.bar}>
          <Button onPress={() => show()} isDisabled={text.trim() === "" || name.trim() === "" || preview.isPending}>
            {t("teach.rules.preview")}
          </Button>
          <Button variant="primary" onPress={run} isDisabled={changed === 0 || apply.isPending}>
            {preview.data ? tn("teach.rules.run", changed) : t("teach.rules.run_none")}
          </Button>
        </div>
        <div aria-live="polite">
          {preview.isError && <ProblemView error={preview.error} />}
          {preview.data && <Preview found={preview.data} />}
        </div>
      </div>
    </Card>
  );
}

function Preview({ found }: { found: RuleFileImport }) {
  const { t, tn } = useT();
  const groups: readonly [string, readonly RuleStatement[]][] = [
    [tn("teach.rules.added", found.added.length), found.added],
    [tn("teach.rules.corrected", found.corrected.length), found.corrected],
    [tn("teach.rules.retired", found.retired.length), found.retired],
    [tn("teach.rules.missing", found.missing.length), found.missing],
  ];
  const shown = groups.filter(([, statements]) => statements.length > 0);
  return (
    <section className={styles.form} aria-label={t("teach.rules.preview_title")}>
      <h3>{t("teach.rules.preview_title")}</h3>
      {shown.length === 0 && found.unchanged === 0 && <p className={styles.note}>{t("teach.rules.nothing")}</p>}
      {found.unchanged > 0 && <p className={styles.note}>{tn("teach.rules.unchanged", found.unchanged)}</p>}
      {shown.map(([title, statements]) => (
        <div key={title}>
          <h4 className={styles.small}>{title}</h4>
          <ul className={styles.statements}>
            {statements.map((each, index) => (
              <li key={index}>
                <TypeBadge type={each.type} />
                <div>
                  {each.before && <del className={styles.removed}>{each.before}</del>}
                  <span className={each.before ? styles.added : ""}>{each.text}</span>
                </div>
                <span className={styles.aside}>
                  {each.file}:{each.first_line}
                </span>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

function ExportRules() {
  const { t, tn, number } = useT();
  const toasts = useToasts();
  const rules = useExportRules();
  const [budget, setBudget] = useState("");
  const limit = /^\d+$/.test(budget) && Number(budget) > 0 ? Number(budget) : null;
  const copy = (text: string) =>
    navigator.clipboard.writeText(text).then(
      () => toasts.show(t("teach.rules.copied")),
      (error: unknown) => toasts.fail(t("teach.rules.copy_failed"), error),
    );
  return (
    <Card title={t("teach.rules.export")}>
      <div className={styles.form}>
        <p className={styles.note}>{t("teach.rules.export_why")}</p>
        <TextField label={t("teach.rules.budget")} value={budget} onChange={setBudget} placeholder={t("teach.rules.no_budget")} />
        <div className={styles.bar}>
          <Button onPress={() => rules.mutate(limit)} isDisabled={rules.isPending}>
            {t("teach.rules.make")}
          </Button>
          {rules.data && (
            <>
              <Button icon={Copy} onPress={() => void copy(rules.data.text)}>
                {t("teach.rules.copy")}
              </Button>
              <Button icon={Download} onPress={() => save("AGENTS.md", rules.data.text)}>
                {t("teach.rules.download")}
              </Button>
            </>
          )}
        </div>
        {rules.isError && <ProblemView error={rules.error} />}
        {rules.data && (
          <>
            <p className={styles.note}>
              {tn("teach.rules.exported", rules.data.records, { tokens: number(rules.data.tokens) })}
              {rules.data.left_out > 0 && ` ${tn("teach.rules.left_out", rules.data.left_out)}`}
            </p>
            <pre className={styles.pre} tabIndex={0} aria-label={t("teach.rules.export")}>
              {rules.data.text}
            </pre>
          </>
        )}
      </div>
    </Card>
  );
}

function ExportProject() {
  const { t } = useT();
  const project = useProject();
  const [isWithHistory, setWithHistory] = useState(false);
  return (
    <Card title={t("teach.export.title")}>
      <div className={styles.form}>
        <p className={styles.note}>{t("teach.export.why")}</p>
        <Checkbox isSelected={isWithHistory} onChange={setWithHistory}>
          {t("teach.export.history")}
        </Checkbox>
        <a className={styles.download} href={exportAddress(project, isWithHistory)} download={`${project}.jsonl`}>
          <Download aria-hidden size={16} />
          {t("teach.export.download")}
        </a>
      </div>
    </Card>
  );
}

function save(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
