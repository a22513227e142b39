import { ChevronRight, FileCode2, Folder, Route, Shapes, X } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Link } from "wouter";
import { useImpact, useRelatedFiles, type FileMap, type Impact } from "@/api/code";
import { useRecords } from "@/api/records";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Button, IconButton } from "@/components/Button";
import { Figures } from "@/components/Figures";
import { RecordCard } from "@/components/RecordCard";
import { ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { nameOf, reachedBy, type CodeMap, type MapNode } from "./mapModel";
import styles from "./NodeDetails.module.css";

interface NodeDetailsProps {
  node: MapNode;
  map: CodeMap;
  files: FileMap;
  onSelect: (id: string | undefined) => void;
}

const ICONS = { module: Shapes, folder: Folder, file: FileCode2 };
const SHOWN = 8;
const MAX_FILES_OF_FILTER = 100; // the paths are part of the address of the request

/** What is known about a module, folder or file. */
export function NodeDetails({ node, map, files, onSelect }: NodeDetailsProps) {
  const { t, label, number, percent } = useT();
  const Icon = ICONS[node.kind];
  return (
    <div className={styles.details}>
      <header className={styles.header}>
        <Icon aria-hidden size={18} />
        <div className={styles.title}>
          <h2>{node.kind === "file" ? nameOf(node.id) : node.label}</h2>
          <p className={styles.path}>{node.kind === "file" ? node.id : `${label("map.kind", node.kind)} · ${node.cluster || "/"}`}</p>
        </div>
        <IconButton icon={X} label={t("map.unselect")} onPress={() => onSelect(undefined)} />
      </header>
      <div className={styles.figures}>
        <Figures
          isPlain
          figures={[
            ...(node.kind === "file" ? [] : [{ name: t("map.files"), value: number(node.paths.length) }]),
            { name: t("map.memories"), value: number(node.memories) },
            { name: t("map.commits"), value: files.without_history ? "–" : number(node.commits) },
            ...(node.kind === "file" ? [] : [{ name: t("map.coverage"), value: percent(node.coverage) }]),
          ]}
        />
      </div>
      <Memories node={node} />
      {node.kind === "file" ? <FileImpact path={node.id} onSelect={onSelect} /> : <GroupImpact node={node} map={map} onSelect={onSelect} />}
      {node.kind === "file" && <ChangedTogether path={node.id} onSelect={onSelect} />}
      {node.kind !== "file" && <Files node={node} files={files} onSelect={onSelect} />}
    </div>
  );
}

function Section({ title, count, children }: { title: string; count?: number | undefined; children: ReactNode }) {
  const { number } = useT();
  return (
    <section className={styles.section} aria-label={title}>
      <h3>
        {title}
        {count !== undefined && <span className={styles.count}>{number(count)}</span>}
      </h3>
      {children}
    </section>
  );
}

function Memories({ node }: { node: MapNode }) {
  const { t, tn } = useT();
  const project = useProject();
  const found = useRecords({ files: node.paths.slice(0, MAX_FILES_OF_FILTER) as string[], superseded: false, flagged: false, tainted: false });
  const [all, setAll] = useState(false);
  const records = all ? found.records : found.records.slice(0, 3);
  return (
    <Section title={t("map.memories")} count={found.total}>
      {found.isError ? (
        <ProblemView error={found.error} />
      ) : found.isPending ? (
        <Skeleton lines={3} />
      ) : found.records.length === 0 ? (
        <p className={styles.none}>{t("map.no_memories")}</p>
      ) : (
        <ul className={styles.records}>
          {records.map((record) => (
            <li key={record.id}>
              <RecordCard
                record={record}
                actions={
                  <Link href={pagePath(project, "browse", { record: record.id })} className={styles.open}>
                    {t("map.open_record")}
                  </Link>
                }
              />
            </li>
          ))}
        </ul>
      )}
      {!all && found.records.length > 3 && (
        <Button size="s" variant="quiet" onPress={() => setAll(true)}>
          {tn("map.more", found.records.length - 3)}
        </Button>
      )}
    </Section>
  );
}

/** Items with a button for those beyond the first. */
function Items<T>({ items, render }: { items: readonly T[]; render: (item: T) => ReactNode }) {
  const { tn } = useT();
  const [shown, setShown] = useState(SHOWN);
  return (
    <>
      <ul className={styles.items}>{items.slice(0, shown).map(render)}</ul>
      {items.length > shown && (
        <Button size="s" variant="quiet" onPress={() => setShown(shown + 50)}>
          {tn("map.more", items.length - shown)}
        </Button>
      )}
    </>
  );
}

/** A change, and the steps by which it reaches another node. */
function Reached({ id, path, aside, onSelect }: { id: string; path: readonly string[]; aside?: string; onSelect: (id: string) => void }) {
  const { t } = useT();
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <div className={styles.item}>
        <button type="button" className={styles.name} onClick={() => onSelect(fileOf(id))} title={id}>
          {id}
        </button>
        {aside && <span className={styles.aside}>{aside}</span>}
        {path.length > 2 && <IconButton icon={Route} label={t("map.show_path", { name: id })} isActive={isOpen} onPress={() => setOpen(!isOpen)} />}
      </div>
      {isOpen && (
        <ol className={styles.steps}>
          {path.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
      )}
    </li>
  );
}

function fileOf(id: string): string {
  return id.split("::")[0]!;
}

function FileImpact({ path, onSelect }: { path: string; onSelect: (id: string) => void }) {
  const { t, tn } = useT();
  const impact = useImpact(path);
  return (
    <Section title={t("map.impact")} count={impact.data?.total}>
      {impact.isError ? (
        <ProblemView error={impact.error} onRetry={() => void impact.refetch()} />
      ) : !impact.data ? (
        <Skeleton lines={3} />
      ) : impact.data.dependents.length === 0 ? (
        <>
          <p className={styles.none}>{impact.data.unresolved_total > 0 || impact.data.importers.length > 0 ? t("map.no_certain_impact") : t("map.no_impact")}</p>
          <ImpactLimits impact={impact.data} />
        </>
      ) : (
        <>
          <p className={styles.none}>{tn("map.tests", impact.data.tests_total)}</p>
          <ImpactLimits impact={impact.data} />
          <Items
            items={impact.data.dependents}
            render={(node) => <Reached key={node.id} id={node.id} path={node.path} onSelect={onSelect} {...(node.test && { aside: t("map.test") })} />}
          />
        </>
      )}
    </Section>
  );
}

/** What the answer may lack: uses without a known target, languages read in part, a folder that is gone. */
function ImpactLimits({ impact }: { impact: Impact }) {
  const { t, tn } = useT();
  const { definitions_only: languages, notes } = impact.status;
  return (
    <>
      {impact.unresolved_total > 0 && <p className={styles.none}>{tn("map.unresolved", impact.unresolved_total)}</p>}
      {languages.length > 0 && <p className={styles.none}>{t("map.definitions_only", { languages: languages.join(", ") })}</p>}
      {notes.map((note) => (
        <p key={note} className={styles.none}>{note}</p>
      ))}
    </>
  );
}

function GroupImpact({ node, map, onSelect }: { node: MapNode; map: CodeMap; onSelect: (id: string) => void }) {
  const { t } = useT();
  const reached = reachedBy(map, node.id);
  const uses = map.edges.filter((edge) => edge.origin === node.id).map((edge) => edge.target);
  return (
    <>
      <Section title={t("map.impact")} count={reached.length}>
        {reached.length === 0 ? (
          <p className={styles.none}>{t("map.no_impact")}</p>
        ) : (
          <Items items={reached} render={({ id, path }) => <Reached key={id} id={id} path={path} onSelect={onSelect} {...(path.length === 2 && { aside: t("map.direct") })} />} />
        )}
      </Section>
      {uses.length > 0 && (
        <Section title={t("map.uses")} count={uses.length}>
          <Items items={uses} render={(id) => <Reached key={id} id={id} path={[]} onSelect={onSelect} />} />
        </Section>
      )}
    </>
  );
}

function ChangedTogether({ path, onSelect }: { path: string; onSelect: (id: string) => void }) {
  const { t, tn } = useT();
  const related = useRelatedFiles(path);
  return (
    <Section title={t("map.together")}>
      {related.isError ? (
        <ProblemView error={related.error} onRetry={() => void related.refetch()} />
      ) : !related.data ? (
        <Skeleton lines={3} />
      ) : (
        <>
          {related.data.without_history && <p className={styles.none}>{t("map.no_history", { reason: related.data.without_history })}</p>}
          {related.data.related.length === 0 && <p className={styles.none}>{t("map.no_related")}</p>}
          <Items
            items={related.data.related}
            render={(file) => (
              <li key={file.path}>
                <div className={styles.item}>
                  <button type="button" className={styles.name} onClick={() => onSelect(file.path)} title={file.path}>
                    {file.path}
                  </button>
                  <span className={styles.aside}>{file.together > 0 ? tn("map.commits_together", file.together) : file.reasons[0]}</span>
                </div>
              </li>
            )}
          />
        </>
      )}
    </Section>
  );
}

function Files({ node, files, onSelect }: { node: MapNode; files: FileMap; onSelect: (id: string) => void }) {
  const { t, tn } = useT();
  const inside = new Set(node.paths);
  const found = files.files.filter((file) => inside.has(file.path)).sort((a, b) => b.records.length - a.records.length || b.change_rate - a.change_rate);
  return (
    <Section title={t("map.files")} count={found.length}>
      <Items
        items={found}
        render={(file) => (
          <li key={file.path}>
            <div className={styles.item}>
              <button type="button" className={styles.name} onClick={() => onSelect(file.path)} title={file.path}>
                {file.path}
              </button>
              {file.records.length > 0 && <span className={styles.aside}>{tn("map.memories_of", file.records.length)}</span>}
              <ChevronRight aria-hidden size={14} />
            </div>
          </li>
        )}
      />
    </Section>
  );
}
