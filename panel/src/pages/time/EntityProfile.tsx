import { useEffect, useMemo } from "react";
import { Link } from "wouter";
import { useEntity, useEntityFacts, type EntityProfile as Profile } from "@/api/entities";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Badge } from "@/components/Badges";
import { Card } from "@/components/Layout";
import { SafeInline } from "@/components/SafeText";
import { ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { KIND_ICONS } from "./EntitiesView";
import { FactTimeline } from "./FactTimeline";
import { momentOf, spanOf } from "./timeModel";
import type { Viewpoint } from "./TimePage";
import styles from "./EntityProfile.module.css";

interface EntityProfileProps {
  id: string;
  viewpoint: Viewpoint;
  onChoose: (id: string) => void;
}

/** What is and was known about an entity, who said it, and what else is mentioned with it. */
export function EntityProfile({ id, viewpoint, onChoose }: EntityProfileProps) {
  const { t, date } = useT();
  const profile = useEntity(id);
  const facts = useEntityFacts(id);
  const records = facts.data?.items;
  const { onMarks, at, day } = viewpoint;
  useEffect(() => {
    const spans = (records ?? []).map(spanOf);
    onMarks(spans.flatMap(({ from, to }) => (to === null ? [from] : [from, to])));
  }, [records, onMarks]);
  const held = useMemo(() => (records ?? []).filter((record) => momentOf(record, at) === "held"), [records, at]);

  const failed = profile.error ?? facts.error;
  if (failed) return <ProblemView error={failed} onRetry={() => void (profile.refetch(), facts.refetch())} />;
  if (!profile.data || !records) return <Skeleton lines={8} />;
  return (
    <div className={styles.profile}>
      <Header profile={profile.data} />
      <Card title={day === undefined ? t("time.known_now") : t("time.known_then", { day: date(`${day}T12:00:00Z`) })} aside={String(held.length)}>
        {held.length === 0 ? (
          <p className={styles.none}>{t(records.length === 0 ? "time.no_facts" : "time.nothing_then")}</p>
        ) : (
          <ul className={styles.known}>
            {held.map((record) => (
              <li key={record.id}>
                <SafeInline text={record.content} />
              </li>
            ))}
          </ul>
        )}
      </Card>
      {records.length > 0 && (
        <Card title={t("time.facts")}>
          <FactTimeline records={records} viewpoint={viewpoint} />
        </Card>
      )}
      <Related profile={profile.data} onChoose={onChoose} />
      <Mentions profile={profile.data} at={at} />
    </div>
  );
}

function Header({ profile }: { profile: Profile }) {
  const { t, tn, label } = useT();
  const Icon = KIND_ICONS[profile.entity.kind];
  return (
    <header className={styles.header}>
      <span className={styles.icon}>
        <Icon aria-hidden size={20} />
      </span>
      <div className={styles.title}>
        <h2>{profile.entity.name}</h2>
        <p className={styles.meta}>
          {label("entity", profile.entity.kind)} · {tn("time.mentions", profile.mentions)}
        </p>
        {profile.aliases.length > 0 && <p className={styles.meta}>{t("time.aliases", { names: profile.aliases.join(", ") })}</p>}
      </div>
    </header>
  );
}

function Related({ profile, onChoose }: { profile: Profile; onChoose: (id: string) => void }) {
  const { t, tn } = useT();
  if (profile.related.length === 0) return null;
  return (
    <Card title={t("time.related")}>
      <ul className={styles.chips}>
        {profile.related.map(({ entity, together }) => (
          <li key={entity.id}>
            <button type="button" className={styles.chip} onClick={() => onChoose(entity.id)} title={tn("time.together", together)}>
              <span className={styles.chipName}>{entity.name}</span>
              <span className={styles.together}>{together}</span>
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Mentions({ profile, at }: { profile: Profile; at: number }) {
  const { t, dateTime, label } = useT();
  const project = useProject();
  const records = profile.records.filter((record) => Date.parse(record.at) <= at);
  if (records.length === 0) return null;
  return (
    <Card title={t("time.mentioned_in")} aside={String(records.length)}>
      <ul className={styles.mentions}>
        {records.map((record) => (
          <li key={record.id}>
            <p className={styles.mention}>
              <SafeInline text={record.text} />
            </p>
            <p className={styles.meta}>
              <Badge>{label("time.kind_of", record.kind)}</Badge> <time dateTime={record.at}>{dateTime(record.at)}</time>
              {record.taint && <> · {t("state.tainted")}</>}
              {record.kind === "knowledge" && (
                <>
                  {" · "}
                  <Link href={pagePath(project, "browse", { record: record.id })}>{t("time.open")}</Link>
                </>
              )}
            </p>
          </li>
        ))}
      </ul>
    </Card>
  );
}
