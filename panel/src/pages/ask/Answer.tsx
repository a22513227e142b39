import { Button as AriaButton } from "react-aria-components";
import type { Citation } from "@/api/ask";
import { Badge } from "@/components/Badges";
import { Card } from "@/components/Layout";
import { SafeText } from "@/components/SafeText";
import { useT } from "@/i18n";
import styles from "./Ask.module.css";

/** Share of the best score below which a passage is only related. */
const RELATED_BELOW = 0.35;

interface AnswerProps {
  citations: readonly Citation[];
  missing: Readonly<Record<string, string>>;
  onOpen: (citation: Citation) => void;
}

/** Passages, each with the number of its citation; less relevant ones apart. */
export function Answer({ citations, missing, onOpen }: AnswerProps) {
  const { t, tn } = useT();
  const direct = citations.filter((each) => each.score >= RELATED_BELOW);
  const related = citations.filter((each) => each.score < RELATED_BELOW);
  return (
    <>
      <Card title={t("ask.answer")} aside={tn("ask.passages", direct.length)}>
        <Passages citations={direct} onOpen={onOpen} />
        <p className={styles.how}>
          {t("ask.how")}
          {"hypothetical answer" in missing && ` ${t("ask.no_model")}`}
        </p>
      </Card>
      {related.length > 0 && (
        <details className={styles.related}>
          <summary>{tn("ask.related", related.length)}</summary>
          <Passages citations={related} onOpen={onOpen} />
        </details>
      )}
    </>
  );
}

function Passages({ citations, onOpen }: Pick<AnswerProps, "citations" | "onOpen">) {
  const { t, label, percent } = useT();
  return (
    <ol className={styles.passages}>
      {citations.map((each) => (
        <li key={each.id} className={styles.passage}>
          <AriaButton className={styles.number!} aria-label={t("ask.open", { number: each.number, text: each.text.slice(0, 80) })} onPress={() => onOpen(each)}>
            {each.number}
          </AriaButton>
          <div>
            <SafeText text={each.text} />
            <p className={styles.source}>
              <Badge>{label("kind", each.kind)}</Badge>
              <span>{each.source}</span>
              <span>{t("ask.relevance", { share: percent(each.score) })}</span>
            </p>
          </div>
        </li>
      ))}
    </ol>
  );
}
