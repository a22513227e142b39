import type { FileMap } from "@/api/code";

export const GROUPINGS = ["modules", "folders", "files"] as const;
export type Grouping = (typeof GROUPINGS)[number];
export const MEASURES = ["memories", "changes", "coverage"] as const;
export type Measure = (typeof MEASURES)[number];

/** A module, a folder or a file. */
export interface MapNode {
  id: string;
  kind: "module" | "folder" | "file";
  /** Short name on the map. */
  label: string;
  /** Folder in which the map places it. */
  cluster: string;
  paths: readonly string[];
  /** Number of different records about its files. */
  memories: number;
  commits: number;
  changes: number;
  /** Share of its files that a record is about. */
  coverage: number;
}

export interface MapEdge {
  origin: string;
  target: string;
  /** Number of uses between their files. */
  uses: number;
}

export interface CodeMap {
  nodes: readonly MapNode[];
  edges: readonly MapEdge[];
  byId: ReadonlyMap<string, MapNode>;
}

const CLUSTERS = 7;
const FOLDERS = 40;

export function codeMap(map: FileMap, grouping: Grouping): CodeMap {
  const paths = map.files.map((file) => file.path);
  const clusterOf = folderGroups(paths, CLUSTERS);
  const folderOf = grouping === "folders" ? folderGroups(paths, FOLDERS) : clusterOf;
  const idOf = map.files.map((file) => (grouping === "modules" ? file.module : grouping === "files" ? file.path : folderOf(file.path)));
  const places = new Map<string, number[]>();
  idOf.forEach((id, place) => places.set(id, [...(places.get(id) ?? []), place]));
  const nodes = [...places].map(([id, members]) => nodeOf(map, id, grouping, members, clusterOf));
  return { nodes, edges: edgesBetween(map, idOf), byId: new Map(nodes.map((node) => [node.id, node])) };
}

/** A file as a node of its own, for its details on a map of modules or folders. */
export function fileNode(map: FileMap, path: string): MapNode | undefined {
  const place = map.files.findIndex((file) => file.path === path);
  return place === -1 ? undefined : nodeOf(map, path, "files", [place], parentOf);
}

function nodeOf(map: FileMap, id: string, grouping: Grouping, members: readonly number[], clusterOf: (path: string) => string): MapNode {
  const files = members.map((place) => map.files[place]!);
  const records = new Set(files.flatMap((file) => file.records));
  return {
    id,
    kind: grouping === "modules" ? "module" : grouping === "files" ? "file" : "folder",
    label: grouping === "modules" ? id : nameOf(id),
    cluster: mostCommon(files.map((file) => clusterOf(file.path))),
    paths: files.map((file) => file.path),
    memories: records.size,
    commits: sum(files.map((file) => file.commits)),
    changes: sum(files.map((file) => file.change_rate)) / files.length,
    coverage: files.filter((file) => file.records.length > 0).length / files.length,
  };
}

function edgesBetween(map: FileMap, idOf: readonly string[]): MapEdge[] {
  const edges = new Map<string, MapEdge>();
  for (const { origin, target } of map.uses) {
    const [from, to] = [idOf[origin]!, idOf[target]!];
    if (from === to) continue;
    const key = JSON.stringify([from, to]);
    const known = edges.get(key);
    edges.set(key, { origin: from, target: to, uses: (known?.uses ?? 0) + 1 });
  }
  return [...edges.values()];
}

/** Folders of about equal size: the largest one is divided into its own folders until there are this many. */
export function folderGroups(paths: readonly string[], wanted: number): (path: string) => string {
  const groups = new Map<string, string[]>([["", [...paths]]]);
  const isDivided = new Set<string>();
  while (groups.size < wanted) {
    const [folder, inside] = [...groups].filter(([name, files]) => !isDivided.has(name) && files.some((file) => childOf(name, file) !== name)).sort((a, b) => b[1].length - a[1].length)[0] ?? [];
    if (folder === undefined || inside === undefined) break;
    groups.delete(folder);
    isDivided.add(folder);
    for (const file of inside) {
      const child = childOf(folder, file);
      groups.set(child, [...(groups.get(child) ?? []), file]);
    }
  }
  const groupOf = new Map([...groups].flatMap(([folder, files]) => files.map((file) => [file, folder] as const)));
  return (path) => groupOf.get(path) ?? "";
}

/** The folder one level below `folder` that contains the file; the folder itself if it contains the file directly. */
function childOf(folder: string, file: string): string {
  const end = file.indexOf("/", folder.length);
  return end === -1 ? folder : file.slice(0, end + 1);
}

/** Nodes that a change of one reaches, nearest first, with the shortest path to each. */
export function reachedBy(map: CodeMap, id: string): { id: string; path: string[] }[] {
  const usersOf = new Map<string, string[]>();
  for (const edge of map.edges) usersOf.set(edge.target, [...(usersOf.get(edge.target) ?? []), edge.origin]);
  const found = new Map<string, string[]>([[id, [id]]]);
  for (const [node, path] of found) {
    for (const user of usersOf.get(node) ?? []) if (!found.has(user)) found.set(user, [...path, user]);
  }
  found.delete(id);
  return [...found].map(([node, path]) => ({ id: node, path }));
}

export function valueOf(node: MapNode, measure: Measure): number {
  return node[measure];
}

/** Step 0 to 4 of the colour scale. Memories and changes are on a root scale, since few nodes have most of them. */
export function stepOf(node: MapNode, measure: Measure, largest: number): number {
  const value = valueOf(node, measure);
  if (value <= 0 || largest <= 0) return 0;
  const share = measure === "coverage" ? value : Math.sqrt(value / largest);
  return Math.max(1, Math.min(4, Math.ceil(share * 4)));
}

export function largestValue(nodes: readonly MapNode[], measure: Measure): number {
  return measure === "coverage" ? 1 : Math.max(0, ...nodes.map((node) => valueOf(node, measure)));
}

export function parentOf(path: string): string {
  return path.slice(0, path.replace(/\/$/, "").lastIndexOf("/") + 1);
}

export function nameOf(path: string): string {
  const parts = path.replace(/\/$/, "").split("/");
  return parts.at(-1) || "/";
}

function mostCommon(values: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
