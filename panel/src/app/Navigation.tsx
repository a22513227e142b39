import { Link } from "wouter";
import { useHealth } from "@/api/health";
import { useT } from "@/i18n";
import styles from "./Navigation.module.css";
import { PAGES, pagePath } from "./pages";
import { useProject } from "./project";

export function Navigation({ current }: { current: string }) {
  const { t, tn, number } = useT();
  const project = useProject();
  const waiting = useHealth().data?.states["needs review"] ?? 0;
  return (
    <nav aria-label={t("shell.navigation")}>
      <ul className={styles.list}>
        {PAGES.map(({ id, title, icon: Icon }) => (
          <li key={id}>
            <Link href={pagePath(project, id)} className={styles.link} aria-current={id === current ? "page" : undefined}>
              <Icon aria-hidden size={16} />
              {t(title)}
              {id === "review" && waiting > 0 && (
                <span className={styles.count} aria-label={tn("shell.waiting", waiting)}>
                  {number(waiting)}
                </span>
              )}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
