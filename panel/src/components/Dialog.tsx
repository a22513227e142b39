import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useT } from "@/i18n";
import { IconButton } from "./Button";
import styles from "./Dialog.module.css";

export interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
  /** Buttons at the end of the dialog. */
  footer?: ReactNode;
  /** `drawer` is a panel at the right edge, for details that are read beside a list. */
  kind?: "plain" | "wide" | "drawer";
  role?: "dialog" | "alertdialog";
}

/** A modal dialog. Escape and a click outside close it; the focus returns to where it was. */
export function Dialog({ title, isOpen, onClose, children, footer, kind = "plain", role = "dialog" }: DialogProps) {
  const { t } = useT();
  return (
    <ModalOverlay
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable={role === "dialog"}
      className={`${styles.overlay} ${kind === "drawer" ? styles.atEdge : ""}`}
    >
      <Modal className={`${styles.modal} ${styles[kind]}`}>
        <AriaDialog role={role} className={styles.dialog!}>
          <header className={styles.header}>
            <Heading slot="title" level={2} className={styles.title!}>
              {title}
            </Heading>
            <IconButton icon={X} label={t("common.close")} onPress={onClose} />
          </header>
          <div className={styles.body}>{children}</div>
          {footer && <footer className={styles.footer}>{footer}</footer>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
