import { Compass, List, Map as MapIcon, Maximize, Minus, Plus } from "lucide-react";
import { lazy, Suspense, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import { useFileMap, useIndexCode, type FileMap } from "@/api/code";
import { useShortcuts } from "@/app/shortcuts";
import { Button, IconButton } from "@/components/Button";
import { Figures } from "@/components/Figures";
import { SearchField, Select } from "@/components/Fields";
import { Kbd, PageFrame } from "@/components/Layout";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { Legend } from "./Legend";
import type { MapCamera } from "./MapCanvas";
import { codeMap, fileNode, GROUPINGS, MEASURES, type CodeMap, type Grouping, type Measure } from "./mapModel";
import { NodeDetails } from "./NodeDetails";
import { NodeList } from "./NodeList";
import styles from "./MapPage.module.css";

const MapCanvas = lazy(() => import("./MapCanvas"));

export default function MapPage() {
  const { t } = useT();
  const files = useFileMap();
  return (
    <PageFrame title={t("nav.map")} lead={t("map.lead")}>
      {files.isError ? (
        <ProblemView error={files.error} onRetry={() => void files.refetch()} />
      ) : files.data === undefined ? (
        <Skeleton lines={8} />
      ) : files.data === null || files.data.files.length === 0 ? (
        <NotIndexed />
      ) : (
        <Explorer files={files.data} />
      )}
    </PageFrame>
  );
}

function NotIndexed() {
  const { t } = useT();
  const index = useIndexCode();
  return (
    <>
      <EmptyState
        icon={Compass}
        title={t("map.empty")}
        action={
          <Button variant="primary" isDisabled={index.isPending} onPress={() => index.mutate()}>
            {t(index.isPending ? "map.indexing" : "map.index_now")}
          </Button>
        }
      >
        <p>{t("map.empty_why")}</p>
        <p>
          <code>treering index</code>
        </p>
      </EmptyState>
      {index.isError && <ProblemView error={index.error} />}
    </>
  );
}

/** The map or the list, with the details of what is selected. */
function Explorer({ files }: { files: FileMap }) {
  const { t, label } = useT();
  const [address, setAddress] = useSearchParams();
  const [text, setText] = useState("");
  const words = useDeferredValue(text.trim().toLowerCase());
  const [cannotDraw, setCannotDraw] = useState(false);
  const camera = useRef<MapCamera>(null);
  const search = useRef<HTMLInputElement>(null);
  const details = useRef<HTMLElement>(null);

  const grouping = GROUPINGS.find((each) => each === address.get("group")) ?? "modules";
  const measure = MEASURES.find((each) => each === address.get("colour")) ?? "memories";
  const isList = address.get("view") === "list" || cannotDraw;
  const map = useMemo(() => codeMap(files, grouping), [files, grouping]);
  const id = address.get("node") ?? undefined;
  const selected = id === undefined ? undefined : (map.byId.get(id) ?? fileNode(files, id));
  // A file is shown on a map of modules or folders by the one that contains it.
  const onMap = id === undefined || map.byId.has(id) ? id : map.nodes.find((node) => node.paths.includes(id))?.id;
  const set = (name: string, value: string | undefined) =>
    setAddress((before) => {
      const after = new URLSearchParams(before);
      if (value === undefined) after.delete(name);
      else after.set(name, value);
      return after;
    });
  const select = (node: string | undefined) => set("node", node);
  const setView = (list: boolean) => set("view", list ? "list" : undefined);

  useEffect(() => {
    if (id !== undefined) details.current?.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }, [id]);
  useShortcuts("nav.map", [
    { keys: "v", label: "map.key_view", run: () => setView(!isList) },
    { keys: "/", label: "map.find", run: () => search.current?.focus() },
    { keys: "+", label: "map.zoom_in", run: () => camera.current?.zoom(1.5) },
    { keys: "-", label: "map.zoom_out", run: () => camera.current?.zoom(1 / 1.5) },
    { keys: "0", label: "map.fit", run: () => camera.current?.fit() },
  ]);

  const showsList = isList || words !== "";
  return (
    <>
      <div className={styles.toolbar}>
        <div className={styles.search}>
          <SearchField ref={search} label={t("map.find")} value={text} onChange={setText} hint={<Kbd>/</Kbd>} />
        </div>
        <Select<Grouping> label={t("map.group")} showLabel value={grouping} onChange={(value) => set("group", value)} options={GROUPINGS.map((each) => ({ id: each, label: label("map.group", each) }))} />
        <Select<Measure> label={t("map.colour")} showLabel value={measure} onChange={(value) => set("colour", value)} options={MEASURES.map((each) => ({ id: each, label: label("map.colour", each) }))} />
        <div className={styles.views} role="group" aria-label={t("map.view")}>
          <IconButton icon={MapIcon} label={t("map.as_map")} hint="v" isActive={!isList} isDisabled={cannotDraw} onPress={() => setView(false)} />
          <IconButton icon={List} label={t("map.as_list")} hint="v" isActive={isList} onPress={() => setView(true)} />
        </div>
      </div>
      {cannotDraw && <p className={styles.note}>{t("map.cannot_draw")}</p>}
      {measure === "changes" && files.without_history && <p className={styles.note}>{t("map.no_history", { reason: files.without_history })}</p>}
      <div className={styles.explorer}>
        <section className={styles.stage} aria-label={t(showsList ? "map.as_list" : "map.as_map")}>
          {showsList ? (
            <NodeList map={map} files={files} words={words} measure={measure} selected={id} onSelect={select} />
          ) : (
            <>
              <Suspense fallback={<div className={styles.loading}><Skeleton lines={5} /></div>}>
                <MapCanvas map={map} measure={measure} selected={onMap} onSelect={select} camera={camera} onFailure={() => setCannotDraw(true)} />
              </Suspense>
              <div className={styles.zoom}>
                <IconButton icon={Plus} label={t("map.zoom_in")} hint="+" onPress={() => camera.current?.zoom(1.5)} />
                <IconButton icon={Minus} label={t("map.zoom_out")} hint="-" onPress={() => camera.current?.zoom(1 / 1.5)} />
                <IconButton icon={Maximize} label={t("map.fit")} hint="0" onPress={() => camera.current?.fit()} />
              </div>
              <Legend map={map} measure={measure} hasSelection={selected !== undefined} />
            </>
          )}
        </section>
        <aside ref={details} className={styles.details} aria-label={t("map.details")}>
          {selected ? (
            <NodeDetails key={selected.id} node={selected} map={map} files={files} onSelect={select} />
          ) : (
            <Overview files={files} map={map} onSelect={select} />
          )}
        </aside>
      </div>
    </>
  );
}

/** How many parts the overview names as least covered. */
const LEAST_COVERED = 8;

function Overview({ files, map, onSelect }: { files: FileMap; map: CodeMap; onSelect: (id: string) => void }) {
  const { t, number, percent } = useT();
  const covered = files.files.filter((file) => file.records.length > 0).length;
  const memories = new Set(files.files.flatMap((file) => file.records)).size;
  const gaps = map.nodes.filter((node) => node.coverage < 1).sort((a, b) => a.coverage - b.coverage || b.paths.length - a.paths.length).slice(0, LEAST_COVERED);
  return (
    <div className={styles.overview}>
      <h2>{t("map.whole")}</h2>
      <Figures
        isPlain
        figures={[
          { name: t("map.files"), value: number(files.files.length) },
          { name: t("map.modules"), value: number(new Set(files.files.map((file) => file.module)).size) },
          { name: t("map.memories"), value: number(memories) },
          { name: t("map.coverage"), value: percent(covered / files.files.length) },
        ]}
      />
      <p className={styles.hint}>{t("map.hint")}</p>
      {gaps.length > 0 && (
        <section>
          <h3>{t("map.gaps")}</h3>
          <ul className={styles.gaps}>
            {gaps.map((node) => (
              <li key={node.id}>
                <button type="button" onClick={() => onSelect(node.id)}>
                  <span className={styles.gapName}>{node.label}</span>
                  <span className={styles.gapBar} aria-hidden>
                    <span style={{ width: `${node.coverage * 100}%` }} />
                  </span>
                  <span>{percent(node.coverage)}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
