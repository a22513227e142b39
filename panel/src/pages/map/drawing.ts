import type Sigma from "sigma";
import type { NodeHoverDrawingFunction, NodeLabelDrawingFunction } from "sigma/rendering";
import type { Circle, FolderCircle } from "./layout";
import type { Measure } from "./mapModel";
import { SCALES, STEPS } from "./scales";

/** Colours of the canvas, which cannot use CSS. */
export interface Colours extends Record<Measure, readonly string[]> {
  ink: string;
  ink2: string;
  surface: string;
  line: string;
  cluster: string;
  faint: string;
  edge: string;
  uses: string;
  usedBy: string;
  accent: string;
  font: string;
}

export function colours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => longHex(style.getPropertyValue(name).trim());
  const none = mixed(token("--surface-3"), token("--line-strong"), 0.28);
  const scale = (measure: Measure) => STEPS.map((share) => mixed(none, token(SCALES[measure]), share));
  return {
    memories: scale("memories"),
    changes: scale("changes"),
    coverage: scale("coverage"),
    ink: token("--ink"),
    ink2: token("--ink-2"),
    surface: token("--surface"),
    line: token("--line"),
    cluster: mixed(token("--surface"), token("--surface-3"), 0.62),
    faint: mixed(token("--surface-3"), token("--line-strong"), 0.12),
    edge: mixed(token("--surface-3"), token("--line-strong"), 0.5),
    uses: token("--blue"),
    usedBy: token("--amber"),
    accent: token("--accent"),
    font: token("--font"),
  };
}

export function onThemeChange(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}

/** `#abc` as `#aabbcc`: minified style sheets have the short form. */
function longHex(value: string): string {
  return /^#[0-9a-f]{3}$/i.test(value) ? `#${[...value.slice(1)].map((digit) => digit + digit).join("")}` : value;
}

/** A colour between two others, all as `#rrggbb`. */
function mixed(from: string, to: string, share: number): string {
  const parts = [1, 3, 5].map((at) => {
    const [start, end] = [parseInt(from.slice(at, at + 2), 16), parseInt(to.slice(at, at + 2), 16)];
    return Math.round(start + (end - start) * share).toString(16).padStart(2, "0");
  });
  return `#${parts.join("")}`;
}

/** A use between two nodes. */
export interface Line {
  from: Circle;
  to: Circle;
  width: number;
  colour: string;
}

/** What is behind the nodes: the circles of the folders with their names, and the uses as curves. */
export function drawBackground(
  canvas: HTMLCanvasElement,
  sigma: Sigma,
  folders: ReadonlyMap<string, FolderCircle>,
  lines: readonly Line[],
  palette: Colours,
): void {
  const { width, height } = sigma.getDimensions();
  const context = canvas.getContext("2d")!;
  const density = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [width * density, height * density];
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  context.scale(density, density);
  drawFolders(context, sigma, folders, palette);
  for (const { from, to, width: thickness, colour } of lines) {
    const [start, end] = [sigma.graphToViewport(from), sigma.graphToViewport(to)];
    context.beginPath();
    context.moveTo(start.x, start.y);
    context.quadraticCurveTo((start.x + end.x) / 2 + (end.y - start.y) * BEND, (start.y + end.y) / 2 - (end.x - start.x) * BEND, end.x, end.y);
    context.lineWidth = thickness;
    context.strokeStyle = colour;
    context.stroke();
  }
}

const BEND = 0.12; // of the length of a curve; opposite uses between two nodes stay apart

function drawFolders(context: CanvasRenderingContext2D, sigma: Sigma, folders: ReadonlyMap<string, FolderCircle>, palette: Colours): void {
  for (const [folder, { x, y, radius, count }] of folders) {
    const middle = sigma.graphToViewport({ x, y });
    const edge = sigma.graphToViewport({ x: x + radius, y });
    const size = Math.hypot(edge.x - middle.x, edge.y - middle.y);
    context.beginPath();
    context.arc(middle.x, middle.y, size, 0, Math.PI * 2);
    context.fillStyle = palette.cluster;
    context.fill();
    context.lineWidth = 1;
    context.strokeStyle = palette.line;
    context.stroke();
    if (count < 2 || size < 18) continue;
    context.font = `600 11px ${palette.font}`;
    context.textAlign = "center";
    context.fillStyle = palette.ink2;
    context.fillText(shortened(context, folder || "/", Math.max(90, size * 2)), middle.x, middle.y - size - 5);
  }
}

const INSIDE = 24; // radius from which the name is inside the circle

/** The name of a node: inside a large circle, below a small one. */
export function drawLabel(palette: Colours): NodeLabelDrawingFunction {
  return (context, data) => {
    if (!data.label) return;
    const isInside = data.size >= INSIDE;
    context.textAlign = "center";
    context.lineJoin = "round";
    context.lineWidth = 4;
    context.font = `550 12px ${palette.font}`;
    context.strokeStyle = palette.cluster;
    context.fillStyle = isInside ? (isDark(data.color) ? "#ffffff" : "#1a1a17") : palette.ink;
    const text = shortened(context, data.label, isInside ? data.size * 2 - 10 : Math.max(70, data.size * 3));
    const y = isInside ? data.y + 4 : data.y + data.size + 13;
    if (!isInside) context.strokeText(text, data.x, y);
    context.fillText(text, data.x, y);
  };
}

/** A ring around the node, and its whole name. */
export function drawHover(palette: Colours): NodeHoverDrawingFunction {
  return (context, data) => {
    context.beginPath();
    context.arc(data.x, data.y, data.size + 3, 0, Math.PI * 2);
    context.lineWidth = 2.5;
    context.strokeStyle = palette.ink;
    context.stroke();
    if (!data.label) return;
    context.font = `600 12px ${palette.font}`;
    context.textAlign = "center";
    const width = context.measureText(data.label).width + 16;
    const top = data.y + data.size + 8;
    context.beginPath();
    context.roundRect(data.x - width / 2, top, width, 24, 6);
    context.fillStyle = palette.ink;
    context.fill();
    context.fillStyle = palette.surface;
    context.fillText(data.label, data.x, top + 16);
  };
}

function shortened(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let end = text.length;
  while (end > 3 && context.measureText(`${text.slice(0, end)}…`).width > room) end -= 1;
  return `${text.slice(0, end)}…`;
}

function isDark(colour: string): boolean {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.299 * red! + 0.587 * green! + 0.114 * blue! < 140;
}
