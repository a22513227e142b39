import { Bug } from "lucide-react";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { Button } from "@/components/Button";
import { TextField } from "@/components/Fields";
import { Card } from "@/components/Layout";
import { EmptyState } from "@/components/States";
import { useT } from "@/i18n";
import styles from "./Episodes.module.css";
import { FailureList } from "./FailureList";

/** Compare an error with those of all episodes. */
export function FailuresTab() {
  const { t } = useT();
  const [parameters, setParameters] = useSearchParams();
  const error = parameters.get("error") ?? "";
  const [text, setText] = useState(error);
  return (
    <div className={styles.stack}>
      <Card>
        <form
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault();
            setParameters({ tab: "failures", ...(text.trim() && { error: text.trim() }) });
          }}
        >
          <TextField label={t("episodes.failures.error")} value={text} onChange={setText} rows={3} placeholder={t("episodes.failures.placeholder")} />
          <div>
            <Button type="submit" variant="primary" isDisabled={text.trim() === ""}>
              {t("episodes.failures.compare")}
            </Button>
          </div>
        </form>
      </Card>
      {error ? (
        <FailureList error={error} />
      ) : (
        <EmptyState icon={Bug} title={t("episodes.failures.empty")}>
          {t("episodes.failures.empty_why")}
        </EmptyState>
      )}
    </div>
  );
}
