import { CalendarClock, RotateCcw } from "lucide-react";
import { Button } from "@/components/Button";
import { useT } from "@/i18n";
import { addDays, dayOf, daysBetween, endOfDay } from "./timeModel";
import styles from "./AsOfSlider.module.css";

interface AsOfSliderProps {
  first: number;
  last: number;
  /** A day such as `2026-11-18`; undefined is now. */
  day: string | undefined;
  onChange: (day: string | undefined) => void;
  /** Times at which something changed, shown as marks. */
  marks: readonly number[];
}

/** Chooses the day from which the page is seen. */
export function AsOfSlider({ first, last, day, onChange, marks }: AsOfSliderProps) {
  const { t, date } = useT();
  const days = daysBetween(first, last);
  const value = day === undefined ? days : Math.max(0, Math.min(days, daysBetween(first, endOfDay(day)) - (dayOf(first) === day ? 1 : 0)));
  const shown = day === undefined ? t("time.now") : date(`${day}T12:00:00Z`);
  const choose = (place: number) => onChange(place >= days ? undefined : dayOf(addDays(first, place)));
  const share = (time: number) => `${(100 * (time - first)) / Math.max(1, last - first)}%`;
  return (
    <section className={styles.slider} aria-label={t("time.as_of")}>
      <div className={styles.label}>
        <CalendarClock aria-hidden size={16} />
        <label htmlFor="as-of">{t("time.as_of")}</label>
        <output htmlFor="as-of" className={styles.value}>
          {shown}
        </output>
      </div>
      <div className={styles.track}>
        <div className={styles.marks} aria-hidden>
          {marks.map((time, index) => (
            <i key={index} style={{ left: share(time) }} />
          ))}
        </div>
        <input id="as-of" type="range" min={0} max={days} step={1} value={value} aria-valuetext={shown} onChange={(event) => choose(event.currentTarget.valueAsNumber)} />
        <div className={styles.ends} aria-hidden>
          <span>{date(new Date(first))}</span>
          <span>{t("time.now")}</span>
        </div>
      </div>
      {day !== undefined && (
        <Button size="s" icon={RotateCcw} onPress={() => onChange(undefined)}>
          {t("time.back_to_now")}
        </Button>
      )}
    </section>
  );
}
