import type { ReactNode } from "react";
import { useT } from "@/i18n";
import { Button } from "./Button";
import { Dialog } from "./Dialog";

export interface ConfirmDialogProps {
  title: string;
  /** Preview of what will happen. */
  children: ReactNode;
  action: string;
  isOpen: boolean;
  isDanger?: boolean;
  isReady?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

/** Shows what an action will do, and asks before it is done. */
export function ConfirmDialog({ title, children, action, isOpen, isDanger, isReady = true, onConfirm, onClose }: ConfirmDialogProps) {
  const { t } = useT();
  const footer = (
    <>
      <Button onPress={onClose} variant="quiet">
        {t("common.cancel")}
      </Button>
      <Button
        variant={isDanger ? "danger" : "primary"}
        isDisabled={!isReady}
        onPress={() => {
          onClose();
          onConfirm();
        }}
      >
        {action}
      </Button>
    </>
  );
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose} footer={footer} role="alertdialog">
      {children}
    </Dialog>
  );
}
