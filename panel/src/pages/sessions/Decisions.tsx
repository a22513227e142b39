import type { Schemas } from "@/api/client";
import type { Candidate } from "@/api/sessions";
import { Badge, TypeBadge } from "@/components/Badges";
import { useT } from "@/i18n";
import styles from "./Decisions.module.css";
import { RecordText } from "./RecordText";

/** The gates in the order in which a candidate passes them. */
const GATES: readonly NonNullable<Candidate["gate"]>[] = ["session_type", "validation", "frequency", "novelty", "trust", "score", "limit"];
const ORDER: readonly Candidate["decision"][] = ["promoted", "reinforced", "rejected"];
const TONES = { promoted: "green", reinforced: "blue", rejected: "grey" } as const;

/** The fate of every candidate: the record that it became, or the gate that stopped it, and why. */
export function Decisions({ details }: { details: Schemas["SessionDetails"] }) {
  const { t, label } = useT();
  const { candidates } = details.session;
  if (candidates.length === 0) return <p className={styles.none}>{t("sessions.no_candidates")}</p>;
  const groups = ORDER.map((decision) => [decision, candidates.filter((each) => each.decision === decision)] as const);
  return (
    <div className={styles.groups}>
      {groups.map(
        ([decision, found]) =>
          found.length > 0 && (
            <section key={decision} aria-label={label("decision", decision)}>
              <h3 className={styles.title}>
                <Badge tone={TONES[decision]}>{label("decision", decision)}</Badge> <span>{found.length}</span>
              </h3>
              <ul className={styles.list}>
                {found.map((each) => (
                  <CandidateRow key={`${each.signal} ${each.subject}`} candidate={each} />
                ))}
              </ul>
            </section>
          ),
      )}
    </div>
  );
}

function CandidateRow({ candidate }: { candidate: Candidate }) {
  const { t, label } = useT();
  return (
    <li className={styles.candidate}>
      <p className={styles.head}>
        <TypeBadge type={candidate.type} />
        <span className={styles.signal}>{label("signal", candidate.signal)}</span>
      </p>
      <RecordText text={candidate.text || label("signal", candidate.signal)} record={candidate.record ?? null} />
      {candidate.decision === "rejected" && candidate.gate && <Gates stoppedAt={candidate.gate} />}
      {candidate.reason && (
        <p className={styles.reason} lang="en">
          {candidate.reason}
        </p>
      )}
      {candidate.taint && <p className={styles.taint}>{t("sessions.tainted_by", { source: candidate.taint.source })}</p>}
    </li>
  );
}

/** The row of gates, and the one that a candidate did not pass. */
function Gates({ stoppedAt }: { stoppedAt: NonNullable<Candidate["gate"]> }) {
  const { t, label } = useT();
  const place = GATES.indexOf(stoppedAt);
  return (
    <p className={styles.gates}>
      <span className={styles.dots} aria-hidden>
        {GATES.map((gate, index) => (
          <span key={gate} className={index < place ? styles.passed : index === place ? styles.stopped : styles.ahead} title={label("gate", gate)} />
        ))}
      </span>
      <span>
        {t("sessions.stopped", { gate: label("gate", stoppedAt), place: place + 1, all: GATES.length })}. {label("gate_means", stoppedAt)}
      </span>
    </p>
  );
}
