import { Checkbox } from "@/components/Checkbox";
import { Dialog } from "@/components/Dialog";
import { Kbd } from "@/components/Layout";
import { useT } from "@/i18n";
import { useShortcutRegistry } from "./shortcuts";
import styles from "./HelpDialog.module.css";

/** Lists the keys that work on the current page. */
export function HelpDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useT();
  const { groups, isOn, setOn } = useShortcutRegistry();
  return (
    <Dialog title={t("help.title")} isOpen={isOpen} onClose={onClose} kind="wide">
      <div className={styles.groups}>
        {groups.map((group) => (
          <section key={group.title}>
            <h3 className={styles.title}>{t(group.title)}</h3>
            <dl className={styles.list}>
              {group.shortcuts.map((each) => (
                <div key={each.keys} className={styles.row}>
                  <dt>{t(each.label)}</dt>
                  <dd>
                    {each.keys.split(" ").map((key) => (
                      <Kbd key={key}>{key}</Kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <Checkbox isSelected={isOn} onChange={setOn}>
        {t("help.single_keys")}
      </Checkbox>
      <p className={styles.note}>{t("help.note")}</p>
    </Dialog>
  );
}
