import { FolderTree } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "@/api/client";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Button } from "@/components/Button";
import { EmptyState } from "@/components/States";
import { useT } from "@/i18n";
import styles from "./CoverageBars.module.css";

const FIRST = 6;

/** How many files of each module have records. */
export function CoverageBars({ modules }: { modules: readonly Schemas["CoverageAnswer"][] }) {
  const { t, tn, number } = useT();
  const project = useProject();
  const [isOpen, setOpen] = useState(false);
  if (modules.length === 0) {
    return (
      <EmptyState icon={FolderTree} title={t("health.no_code")}>
        {t("health.no_code_todo")} <code>treering index</code>
      </EmptyState>
    );
  }
  const shown = isOpen ? modules : modules.slice(0, FIRST);
  return (
    <>
      <ul className={styles.list}>
        {shown.map((each) => (
          <li key={each.module}>
            <div className={styles.line}>
              <Link href={pagePath(project, "map", { node: each.module })} className={styles.name}>
                {each.module || "/"}
              </Link>
              <span className={styles.count}>{t("health.files_covered", { covered: number(each.covered), files: number(each.files) })}</span>
            </div>
            <div
              role="meter"
              aria-label={each.module || "/"}
              aria-valuemin={0}
              aria-valuemax={each.files}
              aria-valuenow={each.covered}
              aria-valuetext={tn("health.records", each.records)}
              className={styles.bar}
            >
              <span style={{ width: `${(each.covered / Math.max(1, each.files)) * 100}%` }} />
            </div>
          </li>
        ))}
      </ul>
      {modules.length > FIRST && (
        <Button size="s" variant="quiet" onPress={() => setOpen(!isOpen)}>
          {isOpen ? t("health.fewer") : t("health.all_modules", { count: number(modules.length) })}
        </Button>
      )}
    </>
  );
}
