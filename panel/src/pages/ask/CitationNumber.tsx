import { Button as AriaButton } from "react-aria-components";
import type { Citation } from "@/api/ask";
import { useT } from "@/i18n";
import styles from "./Ask.module.css";

interface CitationNumberProps {
  citation: Citation;
  onOpen: (citation: Citation) => void;
  /** Inside a sentence. */
  isSmall?: boolean;
}

/** The number of a citation; opens its source. */
export function CitationNumber({ citation, onOpen, isSmall = false }: CitationNumberProps) {
  const { t } = useT();
  return (
    <AriaButton
      className={`${styles.number} ${isSmall ? styles.small : ""}`}
      aria-label={t("ask.open", { number: citation.number, text: citation.text.slice(0, 80) })}
      onPress={() => onOpen(citation)}
    >
      {citation.number}
    </AriaButton>
  );
}
