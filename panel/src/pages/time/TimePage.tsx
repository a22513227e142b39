import { History } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { useSearchParams } from "wouter";
import { useFirstRecord } from "@/api/entities";
import { PageFrame } from "@/components/Layout";
import { PageTabs } from "@/components/PageTabs";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { AsOfSlider } from "./AsOfSlider";
import { Chains } from "./Chains";
import { EntitiesView } from "./EntitiesView";
import { PastSearch } from "./PastSearch";
import { dayOf, endOfDay } from "./timeModel";

/** The time from which a view is seen, and the time that the slider covers. */
export interface Viewpoint {
  first: number;
  last: number;
  at: number;
  day: string | undefined;
  /** Show times as marks on the slider. */
  onMarks: (times: readonly number[]) => void;
}

const SHORTEST = 7 * 86_400_000;

export default function TimePage() {
  const { t } = useT();
  const first = useFirstRecord();
  return (
    <PageFrame title={t("nav.time")} lead={t("time.lead")}>
      {first.isError ? (
        <ProblemView error={first.error} onRetry={() => void first.refetch()} />
      ) : first.data === undefined ? (
        <Skeleton lines={6} />
      ) : first.data === null ? (
        <EmptyState icon={History} title={t("time.empty")}>
          {t("time.empty_hint")}
        </EmptyState>
      ) : (
        <Views begin={Date.parse(first.data.valid_from ?? first.data.created_at)} />
      )}
    </PageFrame>
  );
}

function Views({ begin }: { begin: number }) {
  const { t, label } = useT();
  const [address, setAddress] = useSearchParams();
  const [marks, setMarks] = useState<readonly number[]>([]);
  const last = useMemo(() => Date.now(), []);
  const first = Math.min(begin, last - SHORTEST);
  const asked = address.get("at") ?? "";
  const day = /^\d{4}-\d\d-\d\d$/.test(asked) && endOfDay(asked) < last && asked >= dayOf(first) ? asked : undefined;
  const set = useCallback(
    (values: Record<string, string | undefined>, replace = false) =>
      setAddress(
        (before) => {
          const after = new URLSearchParams(before);
          for (const [name, value] of Object.entries(values)) {
            if (value === undefined) after.delete(name);
            else after.set(name, value);
          }
          return after;
        },
        { replace },
      ),
    [setAddress],
  );
  const viewpoint: Viewpoint = { first, last, day, at: day === undefined ? last : endOfDay(day), onMarks: setMarks };

  const tabs = [
    {
      id: "entities",
      label: label("time.view", "entities"),
      render: () => <EntitiesView viewpoint={viewpoint} chosen={address.get("entity") ?? undefined} onChoose={(id) => set({ entity: id })} />,
    },
    { id: "changes", label: label("time.view", "changes"), render: () => <Chains viewpoint={viewpoint} /> },
    { id: "search", label: label("time.view", "search"), render: () => <PastSearch viewpoint={viewpoint} /> },
  ];
  return (
    <>
      <AsOfSlider first={first} last={last} day={day} marks={marks} onChange={(chosen) => set({ at: chosen }, true)} />
      <PageTabs label={t("time.views")} tabs={tabs} parameter="view" kept={["at", "entity"]} />
    </>
  );
}
