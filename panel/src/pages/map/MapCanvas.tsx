import { DirectedGraph } from "graphology";
import { useEffect, useImperativeHandle, useMemo, useRef, useState, type Ref } from "react";
import Sigma from "sigma";
import type { Settings } from "sigma/settings";
import { useT } from "@/i18n";
import { colours, drawBackground, drawHover, drawLabel, onThemeChange, type Colours, type Line } from "./drawing";
import { circles, extentOf } from "./layout";
import { largestValue, stepOf, type CodeMap, type Measure } from "./mapModel";
import styles from "./MapCanvas.module.css";

export interface MapCamera {
  zoom: (factor: number) => void;
  fit: () => void;
}

interface MapCanvasProps {
  map: CodeMap;
  measure: Measure;
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
  camera: Ref<MapCamera>;
  /** The browser cannot draw it. */
  onFailure: () => void;
}

const FEW_EDGES = 160;

/** The map as circles on a canvas. The list has the same content for keyboards and screen readers. */
export default function MapCanvas({ map, measure, selected, onSelect, camera, onFailure }: MapCanvasProps) {
  const { t } = useT();
  const container = useRef<HTMLDivElement>(null);
  const renderer = useRef<Sigma | null>(null);
  const palette = useColours();
  const placed = useMemo(() => circles(map.nodes), [map]);
  const graph = useMemo(() => graphOf(map, placed.nodes), [map, placed]);
  const lines = useRef<readonly Line[]>([]);
  const latest = useRef({ onSelect, onFailure, palette });
  latest.current = { onSelect, onFailure, palette };

  useEffect(() => {
    const element = container.current!;
    let sigma: Sigma;
    try {
      sigma = new Sigma(graph, element, SETTINGS);
    } catch {
      latest.current.onFailure();
      return;
    }
    renderer.current = sigma;
    sigma.setCustomBBox(extentOf(placed.clusters.values()));
    const background = sigma.createCanvas("background", { beforeLayer: "edges", style: { position: "absolute" } });
    sigma.on("afterRender", () => drawBackground(background, sigma, placed.clusters, lines.current, latest.current.palette));
    sigma.on("clickNode", ({ node }) => latest.current.onSelect(node));
    sigma.on("clickStage", () => latest.current.onSelect(undefined));
    sigma.on("enterNode", () => (element.style.cursor = "pointer"));
    sigma.on("leaveNode", () => (element.style.cursor = ""));
    sigma.refresh();
    return () => {
      renderer.current = null;
      sigma.kill();
    };
  }, [graph, placed]);

  useEffect(() => {
    const isChosen = selected !== undefined && graph.hasNode(selected);
    const own = map.edges.filter((edge) => edge.origin === selected || edge.target === selected);
    const near = isChosen ? new Set([selected, ...own.flatMap((edge) => [edge.origin, edge.target])]) : null;
    const shown = isChosen ? own : map.edges.length <= FEW_EDGES ? map.edges : [];
    lines.current = shown.map((edge) => ({
      from: placed.nodes.get(edge.origin)!,
      to: placed.nodes.get(edge.target)!,
      width: 1.2 + Math.min(2.5, Math.log2(edge.uses) / 2),
      colour: !isChosen ? palette.edge : edge.origin === selected ? palette.uses : palette.usedBy,
    }));
    const largest = largestValue(map.nodes, measure);
    const steps = new Map(map.nodes.map((node) => [node.id, palette[measure][stepOf(node, measure, largest)]!]));
    renderer.current?.setSettings({
      defaultDrawNodeLabel: drawLabel(palette),
      defaultDrawNodeHover: drawHover(palette),
      nodeReducer: (id, node) => {
        const isFaint = near !== null && !near.has(id);
        return { ...node, color: isFaint ? palette.faint : steps.get(id)!, highlighted: id === selected, forceLabel: near !== null && !isFaint };
      },
    });
  }, [graph, map, measure, palette, placed, selected]);

  useImperativeHandle(camera, () => ({
    zoom: (factor) => void renderer.current?.getCamera().animatedZoom({ factor, duration: 180 }),
    fit: () => void renderer.current?.getCamera().animatedReset({ duration: 180 }),
  }));

  return <div ref={container} className={styles.canvas} role="img" aria-label={t("map.canvas", { n: map.nodes.length })} data-testid="map-canvas" />;
}

const SETTINGS: Partial<Settings> = {
  itemSizesReference: "positions",
  zoomToSizeRatioFunction: (ratio) => ratio,
  minCameraRatio: 0.04,
  maxCameraRatio: 1.6,
  stagePadding: 16,
  labelRenderedSizeThreshold: 11,
  labelDensity: 2,
  labelGridCellSize: 60,
};

function graphOf(map: CodeMap, placed: ReturnType<typeof circles>["nodes"]): DirectedGraph {
  const graph = new DirectedGraph();
  for (const node of map.nodes) {
    const { x, y, radius } = placed.get(node.id)!;
    graph.addNode(node.id, { x, y, size: radius, label: node.label });
  }
  return graph;
}

/** The colours of the theme, read again when the theme changes. */
function useColours(): Colours {
  const [palette, setPalette] = useState(colours);
  useEffect(() => onThemeChange(() => setPalette(colours())), []);
  return palette;
}
