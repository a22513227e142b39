import { AtSign, Building2, CalendarDays, FolderGit2, Link2, MapPin, Tag, UserRound, Users, type LucideIcon } from "lucide-react";
import { useDeferredValue, useEffect, useState } from "react";
import { useEntities, type Entity, type EntityKind } from "@/api/entities";
import { SearchField, Select } from "@/components/Fields";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { EntityProfile } from "./EntityProfile";
import type { Viewpoint } from "./TimePage";
import styles from "./EntitiesView.module.css";

export const KIND_ICONS: Record<EntityKind, LucideIcon> = {
  person: UserRound,
  project: FolderGit2,
  organisation: Building2,
  location: MapPin,
  email: AtSign,
  url: Link2,
  date: CalendarDays,
  other: Tag,
};
const KINDS = Object.keys(KIND_ICONS) as EntityKind[];

interface EntitiesViewProps {
  viewpoint: Viewpoint;
  /** Id of the entity that is shown. */
  chosen: string | undefined;
  onChoose: (id: string) => void;
}

/** The entities, and the profile of one of them. */
export function EntitiesView({ viewpoint, chosen, onChoose }: EntitiesViewProps) {
  const { t, number, label } = useT();
  const [text, setText] = useState("");
  const [kind, setKind] = useState<EntityKind | "all">("all");
  const words = useDeferredValue(text.trim());
  const found = useEntities(words, kind === "all" ? undefined : kind);
  const entities = found.data?.items ?? [];
  const isFiltered = words !== "" || kind !== "all";
  const id = chosen ?? entities[0]?.id;
  const { onMarks } = viewpoint;
  useEffect(() => {
    if (id === undefined) onMarks([]);
  }, [id, onMarks]);

  if (found.isError) return <ProblemView error={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) return <Skeleton lines={6} />;
  if (entities.length === 0 && !isFiltered && chosen === undefined) {
    return (
      <EmptyState icon={Users} title={t("time.no_entities")}>
        {t("time.no_entities_hint")}
      </EmptyState>
    );
  }
  return (
    <div className={styles.view}>
      <nav className={styles.side} aria-label={t("time.view.entities")}>
        <SearchField label={t("time.find_entity")} value={text} onChange={setText} />
        <Select<EntityKind | "all">
          label={t("time.kind")}
          value={kind}
          onChange={setKind}
          options={[{ id: "all", label: t("time.all_kinds") }, ...KINDS.map((each) => ({ id: each, label: label("entity", each) }))]}
        />
        {entities.length === 0 && <p className={styles.none}>{t("time.none_found")}</p>}
        <ul className={styles.list}>
          {entities.map((entity) => (
            <li key={entity.id}>
              <EntityButton entity={entity} isCurrent={entity.id === id} count={number(entity.mentions)} onPress={() => onChoose(entity.id)} />
            </li>
          ))}
        </ul>
      </nav>
      {id !== undefined && <EntityProfile key={id} id={id} viewpoint={viewpoint} onChoose={onChoose} />}
    </div>
  );
}

function EntityButton({ entity, isCurrent, count, onPress }: { entity: Entity; isCurrent: boolean; count: string; onPress: () => void }) {
  const Icon = KIND_ICONS[entity.kind];
  return (
    <button type="button" className={styles.entity} aria-current={isCurrent || undefined} onClick={onPress}>
      <Icon aria-hidden size={15} />
      <span className={styles.name}>{entity.name}</span>
      <span className={styles.count}>{count}</span>
    </button>
  );
}
