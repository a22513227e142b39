/** What a person decides about a record. */
export type Decision = "confirm" | "edit" | "reject" | "later";

/** The key of each decision, the same as in `treering review`. */
export const KEYS: Readonly<Record<Decision, string>> = { confirm: "c", edit: "e", reject: "r", later: "l" };
