import { Label, ProgressBar } from "react-aria-components";
import { useT } from "@/i18n";
import styles from "./Teach.module.css";

/** How far a run is; without a total it only shows that it runs. */
export function Progress({ label, done, total }: { label: string; done: number; total: number | null }) {
  const { number } = useT();
  return (
    <ProgressBar className={styles.progress!} value={done} maxValue={total ?? 100} isIndeterminate={!total}>
      {({ percentage, isIndeterminate }) => (
        <>
          <Label className="visually-hidden">{label}</Label>
          <span className={styles.track}>
            <span className={isIndeterminate ? styles.moving : styles.fill} style={isIndeterminate ? undefined : { width: `${percentage}%` }} />
          </span>
          {!isIndeterminate && (
            <span className={styles.aside}>
              {number(done)} / {number(total ?? 0)}
            </span>
          )}
        </>
      )}
    </ProgressBar>
  );
}
