import type { Schemas } from "@/api/client";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Figures } from "@/components/Figures";
import { useT } from "@/i18n";

/** The four numbers at the top: records, active, to review, tokens saved. */
export function StatRow({ overview }: { overview: Schemas["OverviewAnswer"] }) {
  const { t, tn, number, percent } = useT();
  const project = useProject();
  const { total, active, needs_review, tokens_given, tokens_used } = overview;
  const figures = [
    { name: t("health.total"), value: number(total), note: t("health.total_note"), href: pagePath(project, "browse") },
    { name: t("health.active"), value: number(active), note: t("health.active_note", { share: percent(total ? active / total : 0) }) },
    {
      name: t("health.waiting"),
      value: number(needs_review),
      note: needs_review ? t("health.waiting_note") : t("health.waiting_none"),
      href: pagePath(project, "review"),
      isWarning: needs_review > 0,
    },
    { name: t("health.saved"), value: tn("health.tokens", tokens_used), note: t("health.saved_note", { given: number(tokens_given) }) },
  ];
  return <Figures figures={figures} />;
}
