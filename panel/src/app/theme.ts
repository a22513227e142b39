import { useSyncExternalStore } from "react";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];
const STORED = "treering.theme";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
let chosen: Theme = THEMES.find((theme) => theme === localStorage.getItem(STORED)) ?? "system";

function apply(): void {
  document.documentElement.dataset["theme"] = resolvedTheme();
  for (const listener of listeners) listener();
}

export function resolvedTheme(): "light" | "dark" {
  if (chosen !== "system") return chosen;
  return dark.matches ? "dark" : "light";
}

export function setTheme(theme: Theme): void {
  chosen = theme;
  localStorage.setItem(STORED, theme);
  apply();
}

export function startTheme(): void {
  dark.addEventListener("change", apply);
  apply();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, () => chosen);
}
