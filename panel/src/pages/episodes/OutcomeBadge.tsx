import type { OutcomeStatus } from "@/api/episodes";
import { Badge } from "@/components/Badges";
import { useT } from "@/i18n";

const TONES = { SUCCESS: "green", PARTIAL: "amber", FAILURE: "red" } as const;

export function OutcomeBadge({ status }: { status: OutcomeStatus }) {
  const { label } = useT();
  return <Badge tone={TONES[status]}>{label("episode_outcome", status)}</Badge>;
}
