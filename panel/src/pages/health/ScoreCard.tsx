import { Link } from "wouter";
import type { Schemas } from "@/api/client";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { useT, type MessageKey, type PluralKey } from "@/i18n";
import styles from "./ScoreCard.module.css";

type Part = Schemas["ScorePartAnswer"];

interface PartText {
  name: MessageKey;
  /** What would raise it. */
  advice: PluralKey;
  page: string;
  parameters?: Record<string, string>;
}

const PARTS: Record<string, PartText> = {
  confidence: { name: "health.part.confidence", advice: "health.raise.confidence", page: "browse", parameters: { sort: "confidence", order: "up" } },
  reviewed: { name: "health.part.reviewed", advice: "health.raise.reviewed", page: "review" },
  current: { name: "health.part.current", advice: "health.raise.current", page: "browse", parameters: { status: "stale" } },
  used: { name: "health.part.used", advice: "health.raise.used", page: "browse", parameters: { sort: "last_accessed_at", order: "up" } },
  working: { name: "health.part.working", advice: "health.raise.working", page: "teach", parameters: { tab: "jobs" } },
};

/** The score as tree rings, one for each part, and what would raise it. */
export function ScoreCard({ score, parts }: { score: number; parts: readonly Part[] }) {
  const { t, tn, number } = useT();
  const project = useProject();
  return (
    <div className={styles.layout}>
      <div className={styles.gauge} role="img" aria-label={t("health.score_of", { score: number(score) })}>
        <Rings parts={parts} />
        <span className={styles.score}>{number(score)}</span>
      </div>
      <ul className={styles.parts}>
        {parts.map((part) => {
          const text = PARTS[part.name];
          if (!text) return null;
          const points = { points: number(Math.round(part.share * part.weight * 100)), most: number(Math.round(part.weight * 100)) };
          return (
            <li key={part.name} className={styles.part}>
              <span className={styles.name}>{t(text.name)}</span>
              <span className={styles.bar} aria-hidden>
                <span style={{ width: `${part.share * 100}%` }} />
              </span>
              <span className={styles.points}>{t("health.points", points)}</span>
              {part.share < 1 && (
                <Link href={pagePath(project, text.page, text.parameters)} className={styles.advice}>
                  {tn(text.advice, part.lowered_by)}
                </Link>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

const SIZE = 148;
const WIDTH = 7;
const GAP = 3.5;

function Rings({ parts }: { parts: readonly Part[] }) {
  const centre = SIZE / 2;
  return (
    <svg viewBox={`0 0 ${SIZE} ${SIZE}`} aria-hidden>
      {parts.map((part, index) => {
        const radius = centre - WIDTH / 2 - 1 - index * (WIDTH + GAP);
        const length = 2 * Math.PI * radius;
        return (
          <g key={part.name} fill="none" strokeWidth={WIDTH} transform={`rotate(-90 ${centre} ${centre})`}>
            <circle cx={centre} cy={centre} r={radius} className={styles.track} />
            <circle
              cx={centre}
              cy={centre}
              r={radius}
              className={styles.ring}
              strokeLinecap="round"
              strokeDasharray={`${Math.max(0.001, part.share) * length} ${length}`}
              opacity={1 - index * 0.14}
            />
          </g>
        );
      })}
    </svg>
  );
}
