import { BookMarked } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { useT } from "@/i18n";
import { Button } from "./Button";
import styles from "./CitationChip.module.css";

export interface Cited {
  id: string;
  text: string;
  /** Number of the citation in an answer. */
  number?: number;
  isDeadEnd?: boolean;
}

/** A record that a text is based on; opens the record. Red for dead ends. */
export function CitationChip({ id, text, number, isDeadEnd = false }: Cited) {
  const { t } = useT();
  const project = useProject();
  return (
    <Link
      href={pagePath(project, "browse", { record: id })}
      className={`${styles.chip} ${isDeadEnd ? styles.deadEnd : ""}`}
      title={text}
      aria-label={t(isDeadEnd ? "citation.dead_end" : "citation.open", { text })}
    >
      {number === undefined ? <BookMarked aria-hidden size={12} /> : <span className={styles.number}>{number}</span>}
      <span className={styles.text}>{text}</span>
    </Link>
  );
}

const MOST_SHOWN = 5;

/** A row of citations; more than five are shown as their number until they are opened. */
export function CitationChips({ citations }: { citations: readonly Cited[] }) {
  const { tn } = useT();
  const [isOpen, setOpen] = useState(false);
  if (citations.length > MOST_SHOWN && !isOpen) {
    return (
      <Button size="s" icon={BookMarked} onPress={() => setOpen(true)}>
        {tn("citation.used", citations.length)}
      </Button>
    );
  }
  return (
    <span className={styles.row}>
      {citations.map((each) => (
        <CitationChip key={each.id} {...each} />
      ))}
    </span>
  );
}
