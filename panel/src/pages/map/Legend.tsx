import { useT } from "@/i18n";
import { SCALES, STEPS } from "./scales";
import { largestValue, type CodeMap, type Measure } from "./mapModel";
import styles from "./Legend.module.css";

/** What the colours mean. */
export function Legend({ map, measure, hasSelection }: { map: CodeMap; measure: Measure; hasSelection: boolean }) {
  const { t, label, number, percent } = useT();
  const largest = largestValue(map.nodes, measure);
  const end = measure === "coverage" ? percent(1) : number(largest, { maximumFractionDigits: largest < 10 ? 1 : 0 });
  return (
    <div className={styles.legend}>
      <div className={styles.scale}>
        <span className={styles.name}>{label("map.colour", measure)}</span>
        <span>{measure === "coverage" ? percent(0) : 0}</span>
        <span className={styles.steps} aria-hidden>
          {STEPS.map((share) => (
            <i key={share} style={{ background: `color-mix(in srgb, var(${SCALES[measure]}) ${share * 100}%, color-mix(in srgb, var(--line-strong) 28%, var(--surface-3)))` }} />
          ))}
        </span>
        <span>{end}</span>
      </div>
      {hasSelection && (
        <div className={styles.scale}>
          <i className={`${styles.line} ${styles.uses}`} aria-hidden />
          <span>{t("map.uses")}</span>
          <i className={`${styles.line} ${styles.usedBy}`} aria-hidden />
          <span>{t("map.used_by")}</span>
        </div>
      )}
    </div>
  );
}
