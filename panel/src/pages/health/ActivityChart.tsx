import type { Schemas } from "@/api/client";
import { useT } from "@/i18n";
import styles from "./ActivityChart.module.css";

const WIDTH = 600;
const HEIGHT = 186;
const BASE = 158;

/** Records and sessions of each day; screen readers get a table. */
export function ActivityChart({ days }: { days: readonly Schemas["DayAnswer"][] }) {
  const { t, tn, date } = useT();
  const most = Math.max(1, ...days.map((day) => day.records));
  const step = WIDTH / Math.max(1, days.length);
  const steps = gridSteps(most);
  const top = steps.at(-1) ?? most;
  return (
    <figure>
      <svg viewBox={`0 0 ${WIDTH + 28} ${HEIGHT}`} className={styles.chart} aria-hidden>
        {steps.map((value) => {
          const y = BASE - (value / top) * (BASE - 12);
          return (
            <g key={value}>
              <line x1={28} x2={WIDTH + 28} y1={y} y2={y} className={styles.grid} />
              <text x={22} y={y + 3.5} className={styles.axis} textAnchor="end">
                {value}
              </text>
            </g>
          );
        })}
        {days.map((day, index) => {
          const height = (day.records / top) * (BASE - 12);
          const x = 28 + index * step;
          return (
            <g key={day.day}>
              <rect x={x} y={0} width={step} height={HEIGHT} fill="transparent">
                <title>{`${date(day.day)}: ${tn("health.records", day.records)}, ${tn("health.sessions_count", day.sessions)}`}</title>
              </rect>
              {day.records > 0 && <rect x={x + 3} y={BASE - height} width={step - 6} height={height} rx={2} className={styles.bar} />}
              {day.sessions > 0 && <circle cx={x + step / 2} cy={BASE + 8} r={3} className={styles.session} />}
            </g>
          );
        })}
        <text x={28} y={HEIGHT - 4} className={styles.axis}>{days[0] && date(days[0].day)}</text>
        <text x={WIDTH + 28} y={HEIGHT - 4} className={styles.axis} textAnchor="end">{t("health.today")}</text>
      </svg>
      <figcaption className={styles.legend}>
        <span className={styles.barKey}>{t("health.legend_records")}</span>
        <span className={styles.sessionKey}>{t("health.legend_sessions")}</span>
      </figcaption>
      <table className="visually-hidden">
        <caption>{t("health.activity")}</caption>
        <tbody>
          {days.filter((day) => day.records + day.sessions > 0).map((day) => (
            <tr key={day.day}>
              <th scope="row">{date(day.day)}</th>
              <td>{tn("health.records", day.records)}</td>
              <td>{tn("health.sessions_count", day.sessions)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

/** Round values for the lines of the grid: at most three, the last one at or above the largest value. */
function gridSteps(most: number): number[] {
  const rough = most / 2;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? power;
  return [0, step, 2 * step].filter((value, index) => index === 0 || value - step < most);
}
