import { Inbox } from "lucide-react";
import { Link } from "wouter";
import { useOverview } from "@/api/overview";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Card, Grid, PageFrame } from "@/components/Layout";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { ActivityChart } from "./ActivityChart";
import { AttentionList } from "./AttentionList";
import { CoverageBars } from "./CoverageBars";
import styles from "./HealthPage.module.css";
import { LatestSessions } from "./LatestSessions";
import { ScoreCard } from "./ScoreCard";
import { StatRow } from "./StatRow";

export default function HealthPage() {
  const { t } = useT();
  const overview = useOverview();
  return (
    <PageFrame title={t("nav.health")} lead={t("health.lead")}>
      {overview.isError && <ProblemView error={overview.error} onRetry={() => void overview.refetch()} />}
      {overview.isPending && <Skeleton lines={8} />}
      {overview.data && (overview.data.score === null ? <NothingYet /> : <Content overview={overview.data} />)}
    </PageFrame>
  );
}

function Content({ overview }: { overview: NonNullable<ReturnType<typeof useOverview>["data"]> }) {
  const { t } = useT();
  return (
    <div className={styles.stack}>
      <StatRow overview={overview} />
      <Grid>
        <Card title={t("health.score")} span={2}>
          <ScoreCard score={overview.score ?? 0} parts={overview.parts} />
        </Card>
        <Card title={t("health.attention")} isFlush>
          <AttentionList />
        </Card>
        <Card title={t("health.activity")} aside={t("health.days")} span={2}>
          <ActivityChart days={overview.days} />
        </Card>
        <Card title={t("health.coverage")}>
          <CoverageBars modules={overview.modules} />
        </Card>
        <Card title={t("health.sessions")} span={3} isFlush>
          <LatestSessions />
        </Card>
      </Grid>
    </div>
  );
}

function NothingYet() {
  const { t } = useT();
  const project = useProject();
  return (
    <Card>
      <EmptyState icon={Inbox} title={t("health.empty")} action={<Link href={pagePath(project, "teach")}>{t("health.teach")}</Link>}>
        {t("health.empty_todo")} <code>treering init</code>
      </EmptyState>
    </Card>
  );
}
