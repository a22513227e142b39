import type { Measure } from "./mapModel";

/** Token at the end of each colour scale. */
export const SCALES: Record<Measure, string> = { memories: "--accent", changes: "--amber", coverage: "--blue" };

/** Share of that token in the colour of each step; the rest is the colour of a node without any. */
export const STEPS = [0, 0.28, 0.5, 0.74, 1] as const;
