import { ArrowLeft } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import styles from "./Layout.module.css";

interface PageFrameProps {
  title: string;
  /** The page above this one. */
  back?: { href: string; label: string };
  /** One sentence about the page. */
  lead?: ReactNode;
  actions?: ReactNode;
  /** The page fills the window and scrolls inside, such as a list. */
  isFilled?: boolean;
  children: ReactNode;
}

/** Heading, actions and content of a page. */
export function PageFrame({ title, back, lead, actions, isFilled = false, children }: PageFrameProps) {
  return (
    <div className={`${styles.page} ${isFilled ? styles.filled : ""}`}>
      <header className={styles.header}>
        <div className={styles.heading}>
          {back && (
            <Link href={back.href} className={styles.back}>
              <ArrowLeft aria-hidden size={14} /> {back.label}
            </Link>
          )}
          <h1 tabIndex={-1}>{title}</h1>
          {lead && <p className={styles.lead}>{lead}</p>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface CardProps {
  title?: string;
  aside?: ReactNode;
  children: ReactNode;
  /** No space around the content, such as for a list with lines. */
  isFlush?: boolean;
  /** Number of columns in a `Grid`. */
  span?: 1 | 2 | 3;
}

/** A white area with a title. */
export function Card({ title, aside, children, isFlush = false, span = 1 }: CardProps) {
  return (
    <section className={`${styles.card} ${styles[`span${span}`] ?? ""}`} aria-label={title}>
      {title && (
        <header className={styles.cardHeader}>
          <h2>{title}</h2>
          {aside && <div className={styles.cardAside}>{aside}</div>}
        </header>
      )}
      <div className={isFlush ? styles.flush : styles.cardBody}>{children}</div>
    </section>
  );
}

/** Cards in three columns; one on a phone. */
export function Grid({ children }: { children: ReactNode }) {
  return <div className={styles.grid}>{children}</div>;
}

export function Kbd({ children }: { children: ReactNode }) {
  return <kbd className={styles.kbd}>{children}</kbd>;
}
