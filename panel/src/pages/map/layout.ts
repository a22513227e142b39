import { hierarchy, pack } from "d3-hierarchy";
import type { MapNode } from "./mapModel";

/** Width and height of the plane of the map. */
const SIZE = 1000;

/** Share of the height that the legend covers. */
const LEGEND_SHARE = 0.12;

export interface Circle {
  x: number;
  y: number;
  radius: number;
}

export interface FolderCircle extends Circle {
  /** Number of nodes in it. */
  count: number;
}

interface Item {
  cluster?: string;
  node?: MapNode;
  children?: Item[];
}

/** Places nodes as circles inside a circle for each folder; the area of a node grows with its number of files. */
export function circles(nodes: readonly MapNode[]): { nodes: Map<string, Circle>; clusters: Map<string, FolderCircle> } {
  const clusters = new Map<string, Item[]>();
  for (const node of nodes) clusters.set(node.cluster, [...(clusters.get(node.cluster) ?? []), { node }]);
  const root: Item = { children: [...clusters].map(([cluster, children]) => ({ cluster, children })) };
  const sized = hierarchy<Item>(root)
    .sum((item) => (item.node ? 0.6 + item.node.paths.length : 0))
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const placed = pack<Item>().size([SIZE, SIZE]).padding((item) => (item.depth === 0 ? 34 : 14))(sized);
  const found = { nodes: new Map<string, Circle>(), clusters: new Map<string, FolderCircle>() };
  for (const item of placed.descendants()) {
    const circle = { x: item.x, y: SIZE - item.y, radius: item.r };
    if (item.data.node) found.nodes.set(item.data.node.id, circle);
    else if (item.data.cluster !== undefined) found.clusters.set(item.data.cluster, { ...circle, count: item.children?.length ?? 0 });
  }
  return found;
}

export interface Extent {
  x: [number, number];
  y: [number, number];
}

/** The rectangle around all folders. */
export function extentOf(clusters: Iterable<Circle>): Extent {
  const all = [...clusters];
  const range = (place: (circle: Circle) => number): [number, number] => [
    Math.min(...all.map((each) => place(each) - each.radius)),
    Math.max(...all.map((each) => place(each) + each.radius)),
  ];
  if (all.length === 0) return { x: [0, SIZE], y: [0, SIZE] };
  const [bottom, top] = range((each) => each.y);
  return { x: range((each) => each.x), y: [bottom - LEGEND_SHARE * (top - bottom), top] };
}
