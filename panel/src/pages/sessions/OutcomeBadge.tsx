import type { ObservedSession } from "@/api/sessions";
import { Badge } from "@/components/Badges";
import { useT } from "@/i18n";

const TONES: Record<string, "green" | "red" | "blue" | "grey"> = { success: "green", failure: "red", running: "blue" };

/** How a session ended, or that it still runs. */
export function OutcomeBadge({ session }: { session: ObservedSession }) {
  const { label } = useT();
  const outcome = session.outcome ?? "running";
  return <Badge tone={TONES[outcome] ?? "grey"}>{label("outcome", outcome)}</Badge>;
}
