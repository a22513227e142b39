import type { Pattern } from "@/api/patterns";

type Content = Pattern["content"];
interface Condition {
  form: string;
  field?: string;
  operator?: string;
  value?: unknown;
  condition?: Condition;
  conditions?: readonly Condition[];
}

/** One line that says what a pattern recommends. */
export function summaryOf(content: Content): string {
  switch (content.form) {
    case "strategy":
      return content.approach;
    case "heuristic":
      return content.action;
    case "template":
      return content.structure.map((each) => each.title).join(" → ");
    case "procedure":
      return content.steps.map((each) => each.name).join(" → ");
  }
}

const OPERATORS: Record<string, string> = { eq: "=", in: "∈", range: "∈", contains: "∋", prefix: "^", exists: "∃" };

/** A condition in one line, such as `domain = auth`. */
export function conditionText(condition: Condition): string {
  if (condition.form === "not") return `¬ (${conditionText(condition.condition!)})`;
  if (condition.conditions) return condition.conditions.map(conditionText).join(condition.form === "all" ? " ∧ " : " ∨ ");
  return [condition.field, OPERATORS[condition.operator ?? ""] ?? condition.operator, valueText(condition.value)].filter(Boolean).join(" ");
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

export interface FieldChange {
  field: string;
  before: string | undefined;
  after: string | undefined;
}

const COMPARED = ["name", "category", "summary", "description", "explanation", "applicability", "content", "guidance"] as const;

/** The fields in which two versions of a pattern differ. */
export function changesBetween(before: Pattern, after: Pattern): FieldChange[] {
  const old = new Map(COMPARED.flatMap((field) => [...leaves(field, before[field])]));
  const now = new Map(COMPARED.flatMap((field) => [...leaves(field, after[field])]));
  const fields = [...new Set([...old.keys(), ...now.keys()])];
  return fields.filter((field) => old.get(field) !== now.get(field)).map((field) => ({ field, before: old.get(field), after: now.get(field) }));
}

function* leaves(path: string, value: unknown): Generator<[string, string]> {
  if (value === null || value === "" || value === undefined) return;
  if (typeof value !== "object") yield [path, String(value)];
  else if ("form" in value && ("field" in value || "condition" in value || "conditions" in value) && !("action" in value)) yield [path, conditionText(value as Condition)];
  else if (Array.isArray(value)) {
    if (value.some((each) => typeof each === "object")) for (const [index, each] of value.entries()) yield* leaves(`${path}[${index + 1}]`, each);
    else if (value.length > 0) yield [path, value.join(", ")];
  } else for (const [name, each] of Object.entries(value)) yield* leaves(`${path}.${name}`, each);
}
