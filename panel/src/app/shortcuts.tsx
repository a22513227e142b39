import { createContext, useContext, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import type { MessageKey } from "@/i18n";

/** One key, or a sequence of keys such as `g h`, and what it does. */
export interface Shortcut {
  keys: string;
  label: MessageKey;
  run: () => void;
}

interface ShortcutGroup {
  title: MessageKey;
  shortcuts: readonly Shortcut[];
}

interface Registry {
  groups: readonly ShortcutGroup[];
  isOn: boolean;
  setOn: (on: boolean) => void;
  add: (group: ShortcutGroup) => () => void;
}

const STORED = "treering.shortcuts";
const SEQUENCE_MS = 1_000;
const ShortcutContext = createContext<Registry | null>(null);

/** Listens for keys on the whole page, except while the user types or a dialog is open. */
export function ShortcutProvider({ children }: { children: ReactNode }) {
  const [groups, setGroups] = useState<readonly ShortcutGroup[]>([]);
  const [isOn, setOn] = useState(() => localStorage.getItem(STORED) !== "off");
  const latest = useRef(groups);
  latest.current = groups;

  useEffect(() => {
    localStorage.setItem(STORED, isOn ? "on" : "off");
    if (!isOn) return;
    let first = "";
    let firstAt = 0;
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
      const known = latest.current.flatMap((group) => group.shortcuts);
      const sequence = event.timeStamp - firstAt < SEQUENCE_MS ? `${first} ${event.key}` : event.key;
      const found = known.findLast((each) => each.keys === sequence) ?? known.findLast((each) => each.keys === event.key);
      [first, firstAt] = [event.key, event.timeStamp];
      if (!found) return;
      event.preventDefault();
      found.run();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, [isOn]);

  const registry = useMemo<Registry>(
    () => ({
      groups,
      isOn,
      setOn,
      add: (group) => {
        setGroups((all) => [...all, group]);
        return () => setGroups((all) => all.filter((each) => each !== group));
      },
    }),
    [groups, isOn],
  );
  return <ShortcutContext.Provider value={registry}>{children}</ShortcutContext.Provider>;
}

const TEXT_FIELDS = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true]";

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(`${TEXT_FIELDS}, [role=dialog], [role=alertdialog], [role=menu], [role=listbox]`) !== null;
}

export function useShortcutRegistry(): Registry {
  const registry = useContext(ShortcutContext);
  if (!registry) throw new Error("ShortcutProvider is missing");
  return registry;
}

/** Offer keys while the component is mounted; the help dialog lists them under `title`. */
export function useShortcuts(title: MessageKey, shortcuts: readonly Shortcut[]): void {
  const { add } = useShortcutRegistry();
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  const addRef = useRef(add);
  addRef.current = add;
  const known = shortcuts.map((each) => each.keys).join();
  useEffect(() => {
    const stable = latest.current.map((each, index) => ({ ...each, run: () => latest.current[index]?.run() }));
    return addRef.current({ title, shortcuts: stable });
  }, [title, known]);
}
