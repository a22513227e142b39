import { SearchX, TriangleAlert } from "lucide-react";
import type { AnswerEnd, AnswerSentence, Citation, StreamedAnswer } from "@/api/ask";
import { Card } from "@/components/Layout";
import { SafeInline } from "@/components/SafeText";
import { Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import styles from "./Ask.module.css";
import { CitationNumber } from "./CitationNumber";
import { Passages } from "./Passages";

/** Share of the best score below which a passage is only related. */
const RELATED_BELOW = 0.35;

interface AnswerProps {
  answer: StreamedAnswer;
  onOpen: (citation: Citation) => void;
}

/** Sentences of a language model, if one is configured, and the passages that they cite; less relevant ones apart. */
export function Answer({ answer, onOpen }: AnswerProps) {
  const { t, tn } = useT();
  const { citations } = answer.quoted;
  const cited = new Set(answer.sentences.flatMap((each) => each.numbers));
  const isDirect = (each: Citation) => each.score >= RELATED_BELOW || cited.has(each.number);
  const direct = citations.filter(isDirect);
  const related = citations.filter((each) => !isDirect(each));
  const hasModel = !answer.end || answer.end.status !== "unavailable" || answer.sentences.length > 0;
  return (
    <>
      {hasModel && <Written answer={answer} onOpen={onOpen} />}
      <Card title={t(hasModel ? "ask.sources" : "ask.answer")} aside={tn("ask.passages", direct.length)}>
        <Passages citations={direct} onOpen={onOpen} />
        <p className={styles.how}>
          {t("ask.how")}
          {!hasModel && ` ${noModel(answer.end!, t)}`}
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

type Translate = ReturnType<typeof useT>["t"];

/** A model that was named has failed; without a name there is none. */
function noModel(end: AnswerEnd, t: Translate): string {
  return end.model || end.reason !== "no language model is configured" ? t("ask.model_failed", { reason: end.reason }) : t("ask.no_model");
}

function Written({ answer, onOpen }: AnswerProps) {
  const { t } = useT();
  const { sentences, end } = answer;
  return (
    <Card title={t("ask.answer")} aside={end?.model}>
      {sentences.length > 0 && (
        <p className={styles.written}>
          {sentences.map((each, place) => (
            <Sentence key={place} sentence={each} citations={answer.quoted.citations} onOpen={onOpen} />
          ))}
        </p>
      )}
      {!end && (sentences.length > 0 ? <p className={styles.how}>{t("ask.writing")}</p> : <Skeleton lines={2} />)}
      {end && <End end={end} />}
    </Card>
  );
}

function Sentence({ sentence, citations, onOpen }: { sentence: AnswerSentence; citations: readonly Citation[]; onOpen: AnswerProps["onOpen"] }) {
  const cited = citations.filter((each) => sentence.numbers.includes(each.number));
  return (
    <>
      <SafeInline text={sentence.text} />{" "}
      {cited.map((each) => (
        <CitationNumber key={each.number} citation={each} onOpen={onOpen} isSmall />
      ))}{" "}
    </>
  );
}

const NOTICES = {
  not_found: { icon: SearchX, title: "ask.not_found", text: "ask.not_in_passages" },
  unsupported: { icon: TriangleAlert, title: "ask.unsupported", text: "ask.unsupported_why" },
  unavailable: { icon: TriangleAlert, title: "ask.interrupted", text: "ask.model_failed" },
} as const;

/** How the answer ended, and what was left out of it. */
function End({ end }: { end: AnswerEnd }) {
  const { t, tn } = useT();
  const notice = end.status === "written" ? undefined : NOTICES[end.status];
  return (
    <>
      {notice && (
        <div className={styles.notice}>
          <notice.icon aria-hidden size={18} />
          <p>
            <strong>{t(notice.title)}</strong> {t(notice.text, { reason: end.reason })}
          </p>
        </div>
      )}
      {!notice && <p className={styles.how}>{t("ask.checked")}</p>}
      {end.withheld > 0 && <p className={styles.aside}>{tn("ask.withheld", end.withheld)}</p>}
      {end.left_out.length > 0 && (
        <details className={styles.aside}>
          <summary>{tn("ask.left_out", end.left_out.length)}</summary>
          <ul className={styles.leftOut}>
            {end.left_out.map((each, place) => (
              <li key={place}>{each}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
