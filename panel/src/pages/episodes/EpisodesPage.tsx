import { useSearchParams } from "wouter";
import { PageFrame } from "@/components/Layout";
import { PageTabs } from "@/components/PageTabs";
import { useT } from "@/i18n";
import { EpisodesTab } from "./EpisodesTab";
import { FailuresTab } from "./FailuresTab";
import { PatternDetails } from "./PatternDetails";
import { PatternsTab } from "./PatternsTab";

export default function EpisodesPage() {
  const { t } = useT();
  const [parameters] = useSearchParams();
  const pattern = parameters.get("pattern");
  if (pattern) return <PatternDetails key={pattern} id={pattern} />;
  const tabs = [
    { id: "episodes", label: t("episodes.tab"), render: () => <EpisodesTab /> },
    { id: "failures", label: t("episodes.failures.tab"), render: () => <FailuresTab /> },
    { id: "patterns", label: t("patterns.tab"), render: () => <PatternsTab /> },
  ];
  return (
    <PageFrame title={t("nav.episodes")} lead={t("episodes.lead")}>
      <PageTabs label={t("nav.episodes")} tabs={tabs} />
    </PageFrame>
  );
}
