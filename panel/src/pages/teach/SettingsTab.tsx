import { SearchX } from "lucide-react";
import { useMemo, useState } from "react";
import { useSettings, type SettingValue } from "@/api/trust";
import { Badge } from "@/components/Badges";
import { Checkbox } from "@/components/Checkbox";
import { SearchField } from "@/components/Fields";
import { Card } from "@/components/Layout";
import { SafeInline } from "@/components/SafeText";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import styles from "./Teach.module.css";

/** Every setting with its value, its origin and what it does. Files and environment variables change them. */
export function SettingsTab() {
  const { t, tn, label, language } = useT();
  const settings = useSettings();
  const [text, setText] = useState("");
  const [isChangedOnly, setChangedOnly] = useState(false);
  const sections = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    const shown = (settings.data?.settings ?? []).filter(
      (each) => (!isChangedOnly || each.origin !== "default") && `${each.name} ${each.description}`.toLowerCase().includes(wanted),
    );
    const found = new Map<string, SettingValue[]>();
    for (const each of shown) {
      const section = each.name.split(".")[0]!;
      found.set(section, [...(found.get(section) ?? []), each]);
    }
    return [...found];
  }, [settings.data, text, isChangedOnly]);
  if (settings.isError) return <ProblemView error={settings.error} onRetry={() => void settings.refetch()} />;
  if (settings.isPending) return <Skeleton lines={8} />;
  const { user_file: userFile, project_file: projectFile, errors, warnings } = settings.data;
  return (
    <div className={styles.stack}>
      <div className={styles.note}>
        <p>{t("teach.settings.why")}</p>
        <p>
          {t("teach.settings.user_file")} <code>{userFile}</code>
        </p>
        <p>
          {t("teach.settings.project_file")} <code>{projectFile}</code>
        </p>
        {language !== "en" && <p>{t("teach.settings.language")}</p>}
      </div>
      {[...errors, ...warnings].map((each) => (
        <p key={each} className={styles.warning} role="alert">
          {each}
        </p>
      ))}
      <div className={styles.bar}>
        <SearchField label={t("teach.settings.search")} value={text} onChange={setText} />
        <Checkbox isSelected={isChangedOnly} onChange={setChangedOnly}>
          {t("teach.settings.changed")}
        </Checkbox>
      </div>
      {sections.length === 0 && <EmptyState icon={SearchX} title={t("teach.settings.none")} />}
      {sections.map(([section, values]) => (
        <Card key={section} title={label("section", section)} aside={tn("teach.settings.count", values.length)} isFlush>
          <dl className={styles.settings}>
            {values.map((each) => (
              <Setting key={each.name} setting={each} />
            ))}
          </dl>
        </Card>
      ))}
    </div>
  );
}

function Setting({ setting }: { setting: SettingValue }) {
  const { label } = useT();
  return (
    <div>
      <dt>
        <code>{setting.name}</code>
        {setting.origin !== "default" && <Badge tone="blue">{label("origin", setting.origin)}</Badge>}
      </dt>
      <dd className={styles.settingValue}>
        <code>{shown(setting.value)}</code>
      </dd>
      <dd className={styles.note} lang="en">
        <SafeInline text={setting.description} />
      </dd>
    </div>
  );
}

/** A value as it is written in a file of settings; long numbers are grouped, which TOML allows. */
function shown(value: unknown): string {
  if (Number.isInteger(value) && Math.abs(value as number) >= 10_000) return String(value).replace(/\B(?=(\d{3})+$)/g, "_");
  return value === "" ? '""' : typeof value === "string" ? value : JSON.stringify(value);
}
