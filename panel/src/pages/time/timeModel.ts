import type { Knowledge } from "@/api/records";

const DAY = 86_400_000;

/** The time in which a record was held to be true; `to` is null while it is. */
export interface Span {
  from: number;
  to: number | null;
}

export function spanOf(record: Knowledge): Span {
  const ends = [record.valid_until, record.deprecated_at].filter((end) => end != null).map((end) => Date.parse(end));
  return { from: Date.parse(record.valid_from ?? record.created_at), to: ends.length ? Math.min(...ends) : null };
}

export type Moment = "held" | "later" | "ended";

/** Whether a record was held to be true at a time, was not known yet, or had ended. */
export function momentOf(record: Knowledge, at: number): Moment {
  const { from, to } = spanOf(record);
  if (Math.max(from, Date.parse(record.created_at)) > at) return "later";
  return to !== null && to <= at ? "ended" : "held";
}

/** Subject, attribute, value and speaker of a stated fact. */
export function statementOf(record: Knowledge): { attribute?: string; value?: string; speaker?: string } {
  const stated = (record.payload ?? {}) as Record<string, unknown>;
  const text = (name: string) => (typeof stated[name] === "string" ? { [name]: stated[name] } : {});
  return { ...text("attribute"), ...text("value"), ...text("speaker") };
}

/** Records by the attribute that they state, or else by their type; in the order of their beginning. */
export function byAttribute(records: readonly Knowledge[]): Map<string, Knowledge[]> {
  const groups = new Map<string, Knowledge[]>();
  for (const record of records) {
    const { attribute } = statementOf(record);
    const key = attribute ? `attribute.${attribute}` : `type.${record.type}`;
    groups.set(key, [...(groups.get(key) ?? []), record]);
  }
  return groups;
}

/** Records in chains of replacement, oldest version first; the chain that changed last comes first. */
export function chainsOf(records: readonly Knowledge[]): Knowledge[][] {
  const byId = new Map(records.map((record) => [record.id, record]));
  const isSuccessor = new Set(records.map((record) => record.superseded_by).filter((id) => id != null));
  const chains = records
    .filter((record) => !isSuccessor.has(record.id))
    .map((first) => {
      const chain: Knowledge[] = [];
      let next: Knowledge | undefined = first;
      while (next && !chain.includes(next)) {
        chain.push(next);
        next = next.superseded_by == null ? undefined : byId.get(next.superseded_by);
      }
      return chain;
    })
    .filter((chain) => chain.length > 1 || chain[0]?.deprecated_at != null);
  return chains.sort((a, b) => changedAt(b) - changedAt(a));
}

function changedAt(chain: readonly Knowledge[]): number {
  return Math.max(...chain.map((record) => Date.parse(record.deprecated_at ?? record.created_at)));
}

/** The end of a day (UTC) given as `2026-11-18`. */
export function endOfDay(day: string): number {
  return Date.parse(`${day}T23:59:59.999Z`);
}

export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Every day from the first to the last. */
export function daysBetween(first: number, last: number): number {
  return Math.max(1, Math.round((Date.parse(dayOf(last)) - Date.parse(dayOf(first))) / DAY));
}

export function addDays(time: number, days: number): number {
  return time + days * DAY;
}
