import { CircleHelp, Menu, WifiOff } from "lucide-react";
import { Suspense, useEffect, useRef, useState, type ReactNode } from "react";
import { useLocation } from "wouter";
import { useConnection } from "@/api/connection";
import { useServerEvents } from "@/api/events";
import { IconButton } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { HelpDialog } from "./HelpDialog";
import { Navigation } from "./Navigation";
import { PAGES, pagePath, type Page } from "./pages";
import { useProject } from "./project";
import { ProjectSwitcher } from "./ProjectSwitcher";
import { useShortcuts } from "./shortcuts";
import styles from "./Shell.module.css";
import { ThemeAndLanguage } from "./ThemeAndLanguage";

/** The frame of every page: navigation, project, banner and help. */
export function Shell({ page, children }: { page: Page; children: ReactNode }) {
  const { t } = useT();
  const project = useProject();
  const [, go] = useLocation();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  useServerEvents(project);
  useShortcuts("help.everywhere", [
    { keys: "?", label: "help.title", run: () => setHelpOpen(true) },
    ...PAGES.map((each) => ({ keys: `g ${each.key}`, label: each.title, run: () => go(pagePath(project, each.id)) })),
  ]);
  useEffect(() => {
    document.title = `${t(page.title)} · ${project} · Treering`;
    setMenuOpen(false);
  }, [page, project, t]);

  return (
    <div className={styles.shell}>
      <a
        href="#main"
        className={styles.skip}
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t("shell.skip")}
      </a>
      <aside className={styles.sidebar}>
        <Brand />
        <ProjectSwitcher />
        <Navigation current={page.id} />
        <div className={styles.bottom}>
          <ThemeAndLanguage />
          <IconButton icon={CircleHelp} label={t("help.title")} hint="?" onPress={() => setHelpOpen(true)} />
        </div>
      </aside>
      <header className={styles.topbar}>
        <IconButton icon={Menu} label={t("shell.menu")} onPress={() => setMenuOpen(true)} />
        <Brand />
        <span className={styles.project}>{project}</span>
        <IconButton icon={CircleHelp} label={t("help.title")} onPress={() => setHelpOpen(true)} />
      </header>
      <main id="main" ref={main} tabIndex={-1} className={styles.main}>
        <OfflineBanner />
        <Suspense fallback={<div className={styles.loading}><Skeleton lines={6} /></div>}>{children}</Suspense>
      </main>
      <HelpDialog isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
      <Dialog title={t("shell.menu")} isOpen={isMenuOpen} onClose={() => setMenuOpen(false)} kind="drawer">
        <div className={styles.menu}>
          <ProjectSwitcher />
          <Navigation current={page.id} />
          <ThemeAndLanguage />
        </div>
      </Dialog>
    </div>
  );
}

function Brand() {
  return (
    <span className={styles.brand}>
      <img src="/icon.svg" alt="" width={22} height={22} />
      Treering
    </span>
  );
}

function OfflineBanner() {
  const { t } = useT();
  const state = useConnection();
  return (
    <div role="status">
      {state === "offline" && (
        <p className={styles.banner}>
          <WifiOff aria-hidden size={16} />
          {t("shell.offline")}
        </p>
      )}
    </div>
  );
}
