import { createContext, useContext } from "react";

const ProjectContext = createContext<string | null>(null);
export const ProjectProvider = ProjectContext.Provider;

/** The project that the page shows. */
export function useProject(): string {
  const project = useContext(ProjectContext);
  if (project === null) throw new Error("no project");
  return project;
}
