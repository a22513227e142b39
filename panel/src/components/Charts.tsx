import { useEffect, useRef, useState, type ReactNode } from "react";
import { useT } from "@/i18n";
import styles from "./Charts.module.css";

export type ChartTone = "good" | "middle" | "bad" | "neutral";

export interface Series {
  name: string;
  tone: ChartTone;
}

export interface BarChartProps {
  /** What the chart shows, for screen readers and as the caption of the table. */
  title: string;
  series: readonly Series[];
  /** One stacked bar each, with a value for each series. */
  bars: readonly { label: string; values: readonly number[] }[];
  /** Name of the column of labels. */
  axis: string;
  format?: (value: number) => string;
}

const HEIGHT = 132;
const TOP = 14;
const BOTTOM = 20;
const LABEL_WIDTH = 64;
const WIDEST_BAR = 34;

/** Stacked bars, with the same figures as a table. */
export function BarChart({ title, series, bars, axis, format }: BarChartProps) {
  const { number } = useT();
  const shown = (value: number) => (format ?? number)(value);
  const [ref, width] = useWidth();
  const totals = bars.map((bar) => sum(bar.values));
  const most = Math.max(1, ...totals);
  const step = width / Math.max(1, bars.length);
  const thick = Math.min(WIDEST_BAR, step * 0.62);
  const every = Math.max(1, Math.ceil(LABEL_WIDTH / Math.max(1, step)));
  const scale = (HEIGHT - TOP - BOTTOM) / most;
  return (
    <Figure title={title} series={series} table={<ChartTable title={title} axis={axis} columns={series.map((each) => each.name)} rows={bars.map((bar) => [bar.label, ...bar.values.map(shown)])} />}>
      <div ref={ref} className={styles.canvas}>
        <svg width={width} height={HEIGHT} role="img" aria-label={title}>
          <line x1={0} x2={width} y1={HEIGHT - BOTTOM + 0.5} y2={HEIGHT - BOTTOM + 0.5} className={styles.base} />
          {bars.map((bar, index) => {
            const x = step * index + step / 2;
            let y = HEIGHT - BOTTOM;
            return (
              <g key={index}>
                {bar.values.map((value, part) => {
                  const height = value * scale;
                  y -= height;
                  return value > 0 && <rect key={part} x={x - thick / 2} y={y} width={thick} height={Math.max(1, height - 1)} rx={2} className={styles[series[part]!.tone]} />;
                })}
                {totals[index]! > 0 && step > 26 && (
                  <text x={x} y={y - 4} textAnchor="middle" className={styles.value}>
                    {shown(totals[index]!)}
                  </text>
                )}
                {(bars.length - 1 - index) % every === 0 && (
                  <text x={x} y={HEIGHT - 5} textAnchor={anchor(index, bars.length, every)} className={styles.label}>
                    {bar.label}
                  </text>
                )}
              </g>
            );
          })}
        </svg>
      </div>
    </Figure>
  );
}

export interface RateChartProps {
  title: string;
  name: string;
  /** Shares from 0 to 1, oldest first. */
  points: readonly { label: string; share: number }[];
  /** A dashed line to compare with. */
  reference?: { name: string; share: number } | undefined;
  axis: string;
}

const LEFT = 46;

/** A share over time as a line, beside a reference, with the same figures as a table. */
export function RateChart({ title, name, points, reference, axis }: RateChartProps) {
  const { percent } = useT();
  const [ref, width] = useWidth();
  const inner = Math.max(1, width - LEFT - 10);
  const x = (index: number) => LEFT + (points.length === 1 ? inner / 2 : (inner * index) / (points.length - 1));
  const y = (share: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - share);
  const series: Series[] = [{ name, tone: "good" }, ...(reference ? [{ name: `${reference.name} (${percent(reference.share)})`, tone: "neutral" as const }] : [])];
  return (
    <Figure title={title} series={series} table={<ChartTable title={title} axis={axis} columns={[name]} rows={points.map((each) => [each.label, percent(each.share)])} />}>
      <div ref={ref} className={styles.canvas}>
        <svg width={width} height={HEIGHT} role="img" aria-label={title}>
          {[0, 0.5, 1].map((share) => (
            <g key={share}>
              <line x1={LEFT} x2={width} y1={y(share)} y2={y(share)} className={styles.grid} />
              <text x={LEFT - 8} y={y(share) + 4} textAnchor="end" className={styles.label}>
                {percent(share)}
              </text>
            </g>
          ))}
          {reference && <line x1={LEFT} x2={width} y1={y(reference.share)} y2={y(reference.share)} className={styles.reference} />}
          <polyline points={points.map((each, index) => `${x(index)},${y(each.share)}`).join(" ")} className={styles.line} />
          {points.map((each, index) => (
            <circle key={index} cx={x(index)} cy={y(each.share)} r={3.5} className={styles.point} />
          ))}
          {points.length > 0 && (
            <>
              <text x={x(0)} y={HEIGHT - 4} textAnchor={points.length > 1 ? "start" : "middle"} className={styles.label}>
                {points[0]!.label}
              </text>
              {points.length > 1 && (
                <text x={x(points.length - 1)} y={HEIGHT - 4} textAnchor="end" className={styles.label}>
                  {points.at(-1)!.label}
                </text>
              )}
            </>
          )}
        </svg>
      </div>
    </Figure>
  );
}

function Figure({ title, series, table, children }: { title: string; series: readonly Series[]; table: ReactNode; children: ReactNode }) {
  const { t } = useT();
  return (
    <figure className={styles.figure} aria-label={title}>
      {children}
      <figcaption className={styles.caption}>
        {series.length > 1 && (
          <ul className={styles.legend}>
            {series.map((each) => (
              <li key={each.name}>
                <span className={`${styles.swatch} ${styles[each.tone]}`} aria-hidden />
                {each.name}
              </li>
            ))}
          </ul>
        )}
        <details className={styles.details}>
          <summary>{t("chart.table")}</summary>
          {table}
        </details>
      </figcaption>
    </figure>
  );
}

function ChartTable({ title, axis, columns, rows }: { title: string; axis: string; columns: readonly string[]; rows: readonly (readonly string[])[] }) {
  return (
    <table className={styles.table}>
      <caption className="visually-hidden">{title}</caption>
      <thead>
        <tr>
          <th scope="col">{axis}</th>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([first, ...rest], index) => (
          <tr key={index}>
            <th scope="row">{first}</th>
            {rest.map((value, column) => (
              <td key={column}>{value}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The width of an element in pixels, so that text in a chart keeps its size. */
function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(320);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width] as const;
}

function anchor(index: number, count: number, every: number): "start" | "middle" | "end" {
  if (every === 1) return "middle";
  if (index === count - 1) return "end";
  return index < every / 2 ? "start" : "middle";
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
