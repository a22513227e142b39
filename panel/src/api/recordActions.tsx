import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { createContext, useContext, useMemo, useState, type ReactNode } from "react";
import { useProject } from "@/app/project";
import { StaleDialog, type StaleChange } from "@/components/StaleDialog";
import { useToasts } from "@/components/Toasts";
import { useT, type MessageKey } from "@/i18n";
import { client, data, ifMatch, newKey, type Schemas } from "./client";
import { ProblemError } from "./problems";
import type { Knowledge } from "./records";

type Correction = Schemas["CorrectRequest"];

/** A change of one record. */
interface Change {
  /** Message after the change. */
  done: MessageKey;
  /** The record as it will probably be, shown until the server answers; null removes it from lists. */
  expected: Partial<Knowledge> | null;
  /** Text that the user wrote, shown if the record was changed in the meantime. */
  text?: string;
  send: (version: number) => Promise<unknown>;
}

interface RecordActions {
  confirm: (record: Knowledge) => void;
  flag: (record: Knowledge, note?: string) => void;
  pin: (record: Knowledge, pinned: boolean) => void;
  mute: (record: Knowledge, muted: boolean) => void;
  correct: (record: Knowledge, correction: Correction) => void;
  forget: (record: Knowledge) => void;
  undo: (id: string) => void;
}

/**
 * The versions that this page's own changes made. A second change of a record waits for the first, and is based on its
 * result, also if the page does not show that yet.
 */
class OwnVersions {
  private readonly made = new Map<string, number>();
  private readonly running = new Map<string, Promise<unknown>>();

  /** `seen` is the version that the page shows; `send` returns the changed record if it still has the same id. */
  change<T>(id: string, seen: number, send: (version: number) => Promise<T>): Promise<T> {
    const before = this.running.get(id) ?? Promise.resolve();
    const change = before.catch(() => undefined).then(async () => {
      const made = await send(Math.max(seen, this.made.get(id) ?? 0));
      if (isRecord(made) && made.id === id) this.made.set(id, made.version);
      return made;
    });
    this.running.set(id, change);
    return change;
  }
}

const ActionsContext = createContext<RecordActions | null>(null);

/**
 * Changes of records for every page: shown at once, taken back if they fail, with an undo, and with a dialog if the
 * record was changed in the meantime.
 */
export function RecordActionsProvider({ children }: { children: ReactNode }) {
  const { t } = useT();
  const project = useProject();
  const cache = useQueryClient();
  const toasts = useToasts();
  const [stale, setStale] = useState<StaleChange | null>(null);

  const actions = useMemo<RecordActions>(() => {
    const at = (id: string, version: number) => ({
      params: { path: { project, id }, header: { ...ifMatch(version), "Idempotency-Key": newKey() } },
    });
    const own = new OwnVersions();
    const undo = async (id: string) => {
      try {
        const restored = await own.change(id, 0, async () => {
          const undone = await data(client.POST("/api/v1/projects/{project}/records/{id}/undo", { params: { path: { project, id } } }));
          return undone.record?.record;
        });
        if (isRecord(restored)) patchCaches(cache, project, id, restored);
        toasts.show(t("actions.undone"));
      } catch (error) {
        toasts.fail(t("actions.undo_failed"), error);
      }
      await refreshRecords(cache, project);
    };
    const apply = async (record: Knowledge, change: Change) => {
      const rollback = patchCaches(cache, project, record.id, change.expected);
      try {
        await own.change(record.id, record.version, change.send);
        toasts.show(t(change.done), () => void undo(record.id));
      } catch (error) {
        rollback();
        if (error instanceof ProblemError && error.isStale) {
          const current = error.problem.current as unknown as Knowledge;
          const retry = () => void apply(current, change);
          setStale({ base: record, current, retry, ...(change.text !== undefined && { text: change.text }) });
        } else toasts.fail(t("actions.failed"), error);
      }
      await refreshRecords(cache, project);
    };
    const path = "/api/v1/projects/{project}/records/{id}" as const;
    return {
      confirm: (record) =>
        void apply(record, {
          done: "actions.confirmed",
          expected: { user_verified: true, needs_review: false, flagged: false, tainted: false },
          send: (version) => data(client.POST(`${path}/confirm`, at(record.id, version))),
        }),
      flag: (record, note = "") =>
        void apply(record, {
          done: "actions.flagged",
          expected: { flagged: true, user_verified: false },
          send: (version) => data(client.POST(`${path}/flag`, { ...at(record.id, version), body: { note } })),
        }),
      pin: (record, pinned) =>
        void apply(record, {
          done: pinned ? "actions.pinned" : "actions.unpinned",
          expected: { pinned },
          send: (version) => data(client.POST(`${path}/pin`, { ...at(record.id, version), body: { pinned } })),
        }),
      mute: (record, muted) =>
        void apply(record, {
          done: muted ? "actions.muted" : "actions.unmuted",
          expected: { muted },
          send: (version) => data(client.POST(`${path}/mute`, { ...at(record.id, version), body: { muted } })),
        }),
      correct: (record, correction) =>
        void apply(record, {
          done: "actions.corrected",
          expected: correction.text ? { content: correction.text, user_verified: true, flagged: false } : null,
          ...(correction.text && { text: correction.text }),
          send: (version) => data(client.POST(`${path}/correct`, { ...at(record.id, version), body: correction })),
        }),
      forget: (record) =>
        void apply(record, {
          done: "actions.forgotten",
          expected: null,
          send: (version) => data(client.DELETE(path, at(record.id, version))),
        }),
      undo: (id) => void undo(id),
    };
  }, [cache, project, t, toasts]);

  return (
    <ActionsContext.Provider value={actions}>
      {children}
      <StaleDialog change={stale} onClose={() => setStale(null)} />
    </ActionsContext.Provider>
  );
}

export function useRecordActions(): RecordActions {
  const actions = useContext(ActionsContext);
  if (!actions) throw new Error("RecordActionsProvider is missing");
  return actions;
}

const NOUNS = new Set(["records", "search", "review", "health", "overview", "history"]);

export function refreshRecords(cache: QueryClient, project: string): Promise<void> {
  return cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === project && NOUNS.has(String(queryKey[1])) });
}

/** Change a record in every cached answer; returns a function that takes it back. */
function patchCaches(cache: QueryClient, project: string, id: string, expected: Partial<Knowledge> | null): () => void {
  const isOfProject = { predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] === project && NOUNS.has(String(queryKey[1])) };
  const before = cache.getQueriesData(isOfProject);
  for (const [key, value] of before) cache.setQueryData(key, patched(value, id, expected));
  return () => {
    for (const [key, value] of before) cache.setQueryData(key, value);
  };
}

/** A copy of a value in which the record with this id is changed, or removed from its list. */
function patched<T>(value: T, id: string, expected: Partial<Knowledge> | null): T {
  if (Array.isArray(value)) {
    const kept = expected === null ? value.filter((each) => !hasId(each, id)) : value;
    const changed = kept.map((each) => patched(each, id, expected));
    return changed.length === value.length && changed.every((each, index) => each === value[index]) ? value : (changed as T);
  }
  if (typeof value !== "object" || value === null) return value;
  if (isRecord(value)) return value.id === id && expected !== null ? { ...value, ...expected } : value;
  let copy: Record<string, unknown> | null = null;
  for (const [name, part] of Object.entries(value)) {
    const changed = patched(part as unknown, id, expected);
    if (changed !== part) copy = { ...(copy ?? (value as Record<string, unknown>)), [name]: changed };
  }
  return (copy as T | null) ?? value;
}

function isRecord(value: unknown): value is Knowledge {
  return typeof value === "object" && value !== null && "content" in value && "version" in value;
}

function hasId(value: unknown, id: string): boolean {
  return typeof value === "object" && value !== null && "id" in value && value.id === id;
}
