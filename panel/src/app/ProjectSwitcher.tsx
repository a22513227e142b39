import { useLocation } from "wouter";
import { useProjects } from "@/api/projects";
import { Select } from "@/components/Fields";
import { useT } from "@/i18n";
import { pagePath, PAGES } from "./pages";
import { useProject } from "./project";
import styles from "./ProjectSwitcher.module.css";

/** Chooses the project; the page stays the same. */
export function ProjectSwitcher() {
  const { t } = useT();
  const project = useProject();
  const [path, go] = useLocation();
  const known = useProjects().data?.projects.map((each) => each.project) ?? [];
  const names = known.includes(project) ? known : [project, ...known];
  const page = PAGES.find((each) => path.endsWith(`/${each.id}`)) ?? PAGES[0]!;
  return (
    <div className={styles.switcher}>
      <Select
        label={t("shell.project")}
        options={names.map((name) => ({ id: name, label: name }))}
        value={project}
        onChange={(name) => go(pagePath(name, page.id))}
      />
    </div>
  );
}
