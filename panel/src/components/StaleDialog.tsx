import type { Knowledge } from "@/api/records";
import { useT } from "@/i18n";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { Provenance } from "./Provenance";
import { SafeText } from "./SafeText";
import styles from "./StaleDialog.module.css";

/** A change that was refused because the record changed in the meantime. */
export interface StaleChange {
  base: Knowledge;
  current: Knowledge;
  /** Text that the user wrote. */
  text?: string;
  retry: () => void;
}

/** Shows both versions, and lets the user decide. */
export function StaleDialog({ change, onClose }: { change: StaleChange | null; onClose: () => void }) {
  const { t, number } = useT();
  if (!change) return null;
  const { base, current, text, retry } = change;
  const footer = (
    <>
      <Button onPress={onClose}>{t("stale.keep")}</Button>
      <Button
        variant="primary"
        onPress={() => {
          onClose();
          retry();
        }}
      >
        {t("stale.apply")}
      </Button>
    </>
  );
  return (
    <Dialog title={t("stale.title")} isOpen onClose={onClose} footer={footer} kind="wide" role="alertdialog">
      <p className={styles.why}>{t("stale.why")}</p>
      <div className={styles.versions}>
        <section className={styles.version}>
          <h3>{text === undefined ? t("stale.seen", { version: number(base.version ?? 1) }) : t("stale.yours")}</h3>
          <SafeText text={text ?? base.content} />
        </section>
        <section className={styles.version}>
          <h3>{t("stale.current", { version: number(current.version ?? 1) })}</h3>
          <SafeText text={current.content} />
          <Provenance record={current} />
        </section>
      </div>
    </Dialog>
  );
}
