import type { Schemas } from "@/api/client";
import type { Knowledge } from "@/api/records";
import { useSearch, type SearchRequest } from "@/api/search";
import { Dialog } from "@/components/Dialog";
import { RecordCard } from "@/components/RecordCard";
import { ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import styles from "./ExplainDrawer.module.css";
import type { Sort } from "./filters";

interface ExplainDrawerProps {
  record: Knowledge;
  request: SearchRequest;
  sort: Sort;
  onClose: () => void;
}

/** Why a record ranks where it does. */
export function ExplainDrawer({ record, request, sort, onClose }: ExplainDrawerProps) {
  const { t, label } = useT();
  const isSearch = request.query !== "";
  const answer = useSearch({ ...request, explain: true }, isSearch);
  const all = answer.data?.explanation ? [...answer.data.explanation.results, ...answer.data.explanation.runners_up] : [];
  const place = all.findIndex((each) => each.id === record.id);
  return (
    <Dialog title={t("explain.title")} isOpen onClose={onClose} kind="drawer">
      <div className={styles.stack}>
        <RecordCard record={record} />
        {!isSearch && <p>{t("explain.no_query", { sort: label("sort", sort) })}</p>}
        {isSearch && answer.isPending && <Skeleton lines={5} />}
        {answer.isError && <ProblemView error={answer.error} />}
        {answer.data?.explanation && <Understood understood={answer.data.explanation.understood} />}
        {place >= 0 && <Reason reason={all[place]!} place={place + 1} />}
        {isSearch && answer.data && place < 0 && <p>{t("explain.not_ranked")}</p>}
      </div>
    </Dialog>
  );
}

function Understood({ understood }: { understood: Record<string, string> }) {
  const { t, label } = useT();
  return (
    <section>
      <h3>{t("explain.understood")}</h3>
      <dl className={styles.pairs}>
        {Object.entries(understood).map(([name, value]) => (
          <div key={name}>
            <dt>{label("explain.query", name)}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Reason({ reason, place }: { reason: Schemas["RankReason"]; place: number }) {
  const { t, label, number } = useT();
  const terms = reason.parts.map((part) => ({ ...part, points: part.value * part.weight }));
  const most = Math.max(0.001, ...terms.map((term) => term.points));
  const share = (value: number) => number(value, { maximumFractionDigits: 2 });
  return (
    <>
      <section>
        <h3>{t("explain.relevance", { place: number(place), relevance: share(reason.relevance) })}</h3>
        <ul className={styles.terms}>
          {terms.map((term) => (
            <li key={term.name}>
              <span>{label("explain.part", term.name)}</span>
              <span className={styles.bar} aria-hidden><span style={{ width: `${(Math.max(0, term.points) / most) * 100}%` }} /></span>
              <span className={styles.number}>{t("explain.times", { value: share(term.value), weight: share(term.weight) })}</span>
              {reason.ranks[term.name] !== undefined && <span className={styles.rank}>{t("explain.rank", { rank: number(reason.ranks[term.name]!) })}</span>}
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h3>{t("explain.factors")}</h3>
        <dl className={styles.pairs}>
          {Object.entries(reason.factors).map(([name, factor]) => (
            <div key={name}>
              <dt>{label("explain.factor", name)}</dt>
              <dd className={styles.number}>× {share(factor)}</dd>
            </div>
          ))}
          <div className={styles.total}>
            <dt>{t("explain.score")}</dt>
            <dd className={styles.number}>{share(reason.score)}</dd>
          </div>
        </dl>
        {(reason.lost || reason.passed) && <p className={styles.note}>{reason.lost || reason.passed}</p>}
      </section>
    </>
  );
}
