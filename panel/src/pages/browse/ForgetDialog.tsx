import { useForgetMany, useForgetPreview, type ForgetSelection } from "@/api/forget";
import { ConfirmDialog } from "@/components/ConfirmDialog";
import { TypeBadge } from "@/components/Badges";
import { SafeInline } from "@/components/SafeText";
import { ProblemView, Skeleton } from "@/components/States";
import { useToasts } from "@/components/Toasts";
import { useT } from "@/i18n";
import styles from "./ForgetDialog.module.css";

/** Shows which records a filter would forget, forgets them, and offers an undo. */
export function ForgetDialog({ selection, onClose }: { selection: ForgetSelection; onClose: () => void }) {
  const { t, tn, number } = useT();
  const toasts = useToasts();
  const preview = useForgetPreview(selection, true);
  const { forgetMany, restore } = useForgetMany();
  const count = preview.data?.ids.length ?? 0;

  const forget = async () => {
    try {
      const gone = await forgetMany(selection);
      const undo = () => void restore(gone.ids).then(() => toasts.show(tn("actions.restored", gone.ids.length)), (error: unknown) => toasts.fail(t("actions.undo_failed"), error));
      toasts.show(tn("forget.done", gone.ids.length), undo);
    } catch (error) {
      toasts.fail(t("actions.failed"), error);
    }
  };

  return (
    <ConfirmDialog
      title={t("forget.title")}
      action={preview.data ? tn("forget.action", count) : t("action.forget")}
      isOpen
      isDanger
      isReady={count > 0}
      onConfirm={() => void forget()}
      onClose={onClose}
    >
      {preview.isPending && <Skeleton />}
      {preview.isError && <ProblemView error={preview.error} />}
      {preview.data && (
        <>
          <p>{tn("forget.preview", count)}</p>
          <ul className={styles.sample}>
            {preview.data.sample.map((record) => (
              <li key={record.id}>
                <TypeBadge type={record.type} />
                <SafeInline text={record.content} />
              </li>
            ))}
          </ul>
          {count > preview.data.sample.length && <p className={styles.more}>{t("forget.more", { count: number(count - preview.data.sample.length) })}</p>}
          {preview.data.left_out > 0 && <p className={styles.more}>{t("forget.limit", { count: number(preview.data.left_out) })}</p>}
        </>
      )}
    </ConfirmDialog>
  );
}
