import { Link } from "wouter";
import styles from "./Figures.module.css";

export interface Figure {
  name: string;
  value: string;
  note?: string;
  /** Page with what was counted. */
  href?: string;
  isWarning?: boolean;
}

interface FiguresProps {
  figures: readonly Figure[];
  /** Inside a card, without lines. */
  isPlain?: boolean;
}

/** Numbers with their names, in a row; two columns on a phone. */
export function Figures({ figures, isPlain = false }: FiguresProps) {
  return (
    <dl className={isPlain ? styles.plain : styles.row}>
      {figures.map(({ name, value, note, href, isWarning = false }) => (
        <div key={name} className={styles.figure}>
          <dt>{href ? <Link href={href}>{name}</Link> : name}</dt>
          <dd className={`${styles.value} ${isWarning ? styles.warning : ""}`}>{value}</dd>
          {note && <dd className={styles.note}>{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
