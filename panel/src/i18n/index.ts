import { useSyncExternalStore } from "react";
import en from "./en.json";

export type MessageKey = keyof typeof en;
export type Language = "en" | "fr";
type Catalogue = Record<MessageKey, string>;
type Values = Record<string, string | number>;

export const LANGUAGES: Record<Language, string> = { en: "English", fr: "Français" };
const LOADERS: Record<Language, () => Promise<Catalogue>> = {
  en: () => Promise.resolve(en),
  fr: () => import("./fr.json").then((module) => module.default),
};
const STORED = "treering.language";
const DAY = 86_400_000;
const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * DAY],
  ["month", 30 * DAY],
  ["week", 7 * DAY],
  ["day", DAY],
  ["hour", DAY / 24],
  ["minute", DAY / 1440],
];

const MINUTE = DAY / 1440;
/** Unit, its minutes, and those of the next larger unit. */
const DURATION_UNITS: readonly ["day" | "hour" | "minute", number, number][] = [
  ["day", 1440, Infinity],
  ["hour", 60, 1440],
  ["minute", 1, 60],
];

/** Plural messages have the keys `NAME.one` and `NAME.other`. */
export type PluralKey = { [K in MessageKey]: K extends `${infer Name}.other` ? Name : never }[MessageKey];

/** Messages, numbers and dates of one language. */
export class Translator {
  constructor(
    readonly language: Language,
    private readonly catalogue: Catalogue,
  ) {}

  t = (key: MessageKey, values?: Values): string => filled(this.catalogue[key] ?? en[key] ?? key, values);

  /** A message with a count, in the plural form of the language; `{n}` is the count. */
  tn = (key: PluralKey, count: number, values?: Values): string => {
    const form = new Intl.PluralRules(this.language).select(count);
    const message = `${key}.${form}` in this.catalogue ? `${key}.${form}` : `${key}.other`;
    return this.t(message as MessageKey, { n: this.number(count), ...values });
  };

  /** The label of a value of the API, such as `type` `dead_end`; an unknown value is shown as it is. */
  label = (group: string, value: string): string => {
    const key = `${group}.${value}`;
    return key in this.catalogue ? this.t(key as MessageKey) : value.replaceAll("_", " ");
  };

  number = (value: number, options?: Intl.NumberFormatOptions): string =>
    new Intl.NumberFormat(this.language, options).format(value);

  percent = (share: number): string => this.number(share, { style: "percent", maximumFractionDigits: 0 });

  bytes = (size: number): string => {
    const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
    const power = Math.min(units.length - 1, size < 1 ? 0 : Math.floor(Math.log10(size) / 3));
    return this.number(size / 1000 ** power, { style: "unit", unit: units[power]!, maximumFractionDigits: power ? 1 : 0 });
  };

  /** A length of time in its two largest units: "9 days, 18 hr"; at least one minute. */
  duration = (milliseconds: number): string => {
    const minutes = Math.max(1, Math.round(milliseconds / MINUTE));
    const counts = DURATION_UNITS.map(([unit, length, next]) => [unit, Math.floor((minutes % next) / length)] as const);
    const largest = counts.findIndex(([, count]) => count > 0);
    const shown = counts.slice(largest, largest + 2).filter(([, count]) => count > 0);
    const parts = shown.map(([unit, count]) => this.number(count, { style: "unit", unit }));
    return new Intl.ListFormat(this.language, { type: "unit", style: "short" }).format(parts);
  };

  date = (time: string | Date): string =>
    new Intl.DateTimeFormat(this.language, { dateStyle: "medium" }).format(new Date(time));

  dateTime = (time: string | Date): string =>
    new Intl.DateTimeFormat(this.language, { dateStyle: "medium", timeStyle: "short" }).format(new Date(time));

  /** How long ago, in words: "3 days ago". */
  ago = (time: string | Date, now: Date = new Date()): string => {
    const passed = new Date(time).getTime() - now.getTime();
    const format = new Intl.RelativeTimeFormat(this.language, { numeric: "auto" });
    const step = STEPS.find(([, length]) => Math.abs(passed) >= length);
    return step ? format.format(Math.round(passed / step[1]), step[0]) : format.format(0, "second");
  };
}

function filled(message: string, values?: Values): string {
  if (!values) return message;
  return message.replace(/\{(\w+)\}/g, (all, name: string) => String(values[name] ?? all));
}

let current = new Translator("en", en);
const listeners = new Set<() => void>();

export async function setLanguage(language: Language): Promise<void> {
  current = new Translator(language, await LOADERS[language]());
  localStorage.setItem(STORED, language);
  document.documentElement.lang = language;
  for (const listener of listeners) listener();
}

/** The chosen language, else the browser's. */
export function preferredLanguage(): Language {
  const wanted = localStorage.getItem(STORED) ?? navigator.language.slice(0, 2);
  return wanted in LANGUAGES ? (wanted as Language) : "en";
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useT(): Translator {
  return useSyncExternalStore(subscribe, () => current);
}
