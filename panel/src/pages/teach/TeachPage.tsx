import { useJobs } from "@/api/maintenance";
import { PageFrame } from "@/components/Layout";
import { PageTabs } from "@/components/PageTabs";
import { useT } from "@/i18n";
import { AuditTab } from "./AuditTab";
import { JobsTab } from "./JobsTab";
import { RememberTab } from "./RememberTab";
import { RuleFilesTab } from "./RuleFilesTab";
import { SettingsTab } from "./SettingsTab";
import { TrustTab } from "./TrustTab";

export default function TeachPage() {
  const { t, number } = useT();
  const failed = useJobs(["dead"], 20).data?.total ?? 0;
  const tabs = [
    { id: "remember", label: t("teach.remember.tab"), render: () => <RememberTab /> },
    { id: "rules", label: t("teach.rules.tab"), render: () => <RuleFilesTab /> },
    { id: "trust", label: t("teach.trust.tab"), render: () => <TrustTab /> },
    { id: "settings", label: t("teach.settings.tab"), render: () => <SettingsTab /> },
    { id: "jobs", label: t("teach.jobs.tab"), ...(failed > 0 && { aside: number(failed) }), render: () => <JobsTab /> },
    { id: "audit", label: t("teach.audit.tab"), render: () => <AuditTab /> },
  ];
  return (
    <PageFrame title={t("nav.teach")} lead={t("teach.lead")}>
      <PageTabs label={t("nav.teach")} tabs={tabs} />
    </PageFrame>
  );
}
