import type { Citation } from "@/api/ask";
import type { Schemas } from "@/api/client";
import { Badge, TypeBadge } from "@/components/Badges";
import { Provenance } from "@/components/Provenance";
import { SafeText } from "@/components/SafeText";
import { useT } from "@/i18n";
import styles from "./Ask.module.css";
import { CitationNumber } from "./CitationNumber";

/** Stored passages, word for word, each with its number and where it comes from. */
export function Passages({ citations, onOpen }: { citations: readonly Citation[]; onOpen: (citation: Citation) => void }) {
  return (
    <ol className={styles.passages}>
      {citations.map((each) => (
        <li key={each.id} className={styles.passage}>
          <CitationNumber citation={each} onOpen={onOpen} />
          <div>
            <SafeText text={each.text} />
            <Source citation={each} />
          </div>
        </li>
      ))}
    </ol>
  );
}

function Source({ citation }: { citation: Citation }) {
  const { t, label, ago, percent } = useT();
  const { kind, record } = citation;
  const relevance = <span>{t("ask.relevance", { share: percent(citation.score) })}</span>;
  if (kind === "knowledge") {
    const known = record as Schemas["Knowledge"];
    return (
      <div className={styles.source}>
        <TypeBadge type={known.type} />
        <Provenance record={known} />
        {relevance}
      </div>
    );
  }
  return (
    <div className={styles.source}>
      <Badge>{label("kind", kind)}</Badge>
      {kind === "turn" ? <Said turn={record as Schemas["Turn"]} /> : kind === "episode" && <span>{ago((record as Schemas["Episode"]).at)}</span>}
      {relevance}
    </div>
  );
}

function Said({ turn }: { turn: Schemas["Turn"] }) {
  const { label, ago } = useT();
  return (
    <>
      <span>{turn.speaker || label("role", turn.role)}</span>
      <span>{ago(turn.at)}</span>
      <span>{turn.session}</span>
    </>
  );
}
