import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useProject } from "@/app/project";
import { client, data, type Schemas } from "./client";
import { refreshRecords } from "./recordActions";

export type RuleFileImport = Schemas["RuleFileImport"];
export type RuleStatement = Schemas["RuleStatement"];

export interface TaughtRecord {
  text: string;
  type: string;
  files: string[];
  tags: string[];
  pinned: boolean;
}

/** Store what a person teaches. */
export function useRemember() {
  const project = useProject();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (taught: TaughtRecord) =>
      data(
        client.POST("/api/v1/projects/{project}/records", {
          params: { path: { project } },
          body: { ...taught, modules: [], source: "user_taught" },
        }),
      ),
    onSettled: () => refreshRecords(cache, project),
  });
}

interface RuleFile {
  name: string;
  text: string;
  isDryRun: boolean;
  isRetiring: boolean;
}

/** Import a rule file, or preview the import. */
export function useImportRules() {
  const project = useProject();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ name, text, isDryRun, isRetiring }: RuleFile) =>
      data(
        client.POST("/api/v1/projects/{project}/rules/import-file", {
          params: { path: { project } },
          body: { name, text, dry_run: isDryRun, retire: isRetiring },
        }),
      ),
    onSettled: () => refreshRecords(cache, project),
  });
}

/** Confirmed and trusted rules as Markdown. */
export function useExportRules() {
  const project = useProject();
  return useMutation({
    mutationFn: (budget: number | null) =>
      data(client.POST("/api/v1/projects/{project}/rules/export", { params: { path: { project } }, body: { budget } })),
  });
}

/** Address of the export of the whole project as lines of JSON. */
export function exportAddress(project: string, isWithHistory: boolean): string {
  return `/api/v1/projects/${encodeURIComponent(project)}/export?history=${isWithHistory}`;
}
