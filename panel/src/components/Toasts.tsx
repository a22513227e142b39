import { Check, CircleAlert, X } from "lucide-react";
import { createContext, useCallback, useContext, useMemo, useRef, useState, type ReactNode } from "react";
import { problemOf } from "@/api/problems";
import { useT } from "@/i18n";
import { Button, IconButton } from "./Button";
import styles from "./Toasts.module.css";

interface Toast {
  id: number;
  text: string;
  detail?: string;
  isError: boolean;
  action?: { label: string; run: () => void };
}

interface ToastQueue {
  /** Say what was done; `undo` adds a button. */
  show: (text: string, undo?: () => void) => void;
  /** Say what failed, with the detail that the server gave. */
  fail: (text: string, error: unknown) => void;
}

const SHOWN_MS = 8_000;
const MOST = 3;
const ToastContext = createContext<ToastQueue | null>(null);

export function ToastProvider({ children }: { children: ReactNode }) {
  const { t } = useT();
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const next = useRef(0);

  const remove = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const add = useCallback(
    (toast: Omit<Toast, "id">) => {
      const id = next.current++;
      setToasts((all) => [...all, { ...toast, id }].slice(-MOST));
      // An error stays until it is closed: it must be readable without haste.
      if (!toast.isError) setTimeout(() => remove(id), SHOWN_MS);
    },
    [remove],
  );
  const queue = useMemo<ToastQueue>(
    () => ({
      show: (text, undo) => add({ text, isError: false, ...(undo && { action: { label: t("common.undo"), run: undo } }) }),
      fail: (text, error) => add({ text, detail: problemOf(error).detail, isError: true }),
    }),
    [add, t],
  );

  return (
    <ToastContext.Provider value={queue}>
      {children}
      <section aria-label={t("toasts.title")} className={styles.region} data-react-aria-top-layer="true">
        <ol aria-live="polite" className={styles.list}>
          {toasts.map((toast) => (
            <li key={toast.id} className={`${styles.toast} ${toast.isError ? styles.error : ""}`}>
              {toast.isError ? <CircleAlert aria-hidden size={16} /> : <Check aria-hidden size={16} />}
              <div className={styles.text}>
                {toast.text}
                {toast.detail && <p className={styles.detail}>{toast.detail}</p>}
              </div>
              {toast.action && (
                <Button
                  size="s"
                  onPress={() => {
                    toast.action?.run();
                    remove(toast.id);
                  }}
                >
                  {toast.action.label}
                </Button>
              )}
              <IconButton icon={X} label={t("common.close")} onPress={() => remove(toast.id)} />
            </li>
          ))}
        </ol>
      </section>
    </ToastContext.Provider>
  );
}

export function useToasts(): ToastQueue {
  const queue = useContext(ToastContext);
  if (!queue) throw new Error("ToastProvider is missing");
  return queue;
}
