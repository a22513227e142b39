import { ArrowDownWideNarrow, ArrowUpNarrowWide, Plus, X } from "lucide-react";
import { useState } from "react";
import { useMediaQuery } from "@/app/useMediaQuery";
import { Button, IconButton } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { MultiSelect, Select, TextField } from "@/components/Fields";
import { useT } from "@/i18n";
import styles from "./FilterBar.module.css";
import { CONFIDENCES, hasFilters, NO_FILTERS, SORTS, SOURCES, STATUSES, TIMES, TYPES, type Browsing, type Time } from "./filters";

interface FilterBarProps {
  browsing: Browsing;
  onChange: (changes: Partial<Browsing>) => void;
}

const NAMED = ["files", "modules", "tags", "sessions"] as const;
type Named = (typeof NAMED)[number];

/** Filters of the list. */
export function FilterBar({ browsing, onChange }: FilterBarProps) {
  const { t, label, percent } = useT();
  const options = (group: string, values: readonly string[]) => values.map((id) => ({ id, label: label(group, id) }));
  const times = Object.keys(TIMES) as Time[];
  return (
    <div className={styles.bar} role="group" aria-label={t("filters.title")}>
      <MultiSelect label={t("filters.type")} options={options("type", TYPES)} values={browsing.types} onChange={(types) => onChange({ types })} />
      <MultiSelect
        label={t("filters.source")}
        options={SOURCES.map((id) => ({ id, label: label("source", id) }))}
        values={browsing.sources}
        onChange={(sources) => onChange({ sources })}
      />
      <MultiSelect
        label={t("filters.status")}
        options={STATUSES.map((id) => ({ id, label: label("state", id) }))}
        values={browsing.statuses}
        onChange={(statuses) => onChange({ statuses })}
      />
      <Select
        label={t("filters.confidence")}
        options={CONFIDENCES.map((id) => ({ id, label: id === "0" ? t("filters.any_confidence") : t("filters.at_least", { share: percent(Number(id)) }) }))}
        value={browsing.confidence as (typeof CONFIDENCES)[number]}
        onChange={(confidence) => onChange({ confidence })}
      />
      <Select label={t("filters.time")} options={times.map((id) => ({ id, label: label("time", id) }))} value={browsing.time} onChange={(time) => onChange({ time })} />
      {NAMED.map((field) => (
        <NamedFilter key={field} field={field} values={browsing[field]} onChange={(values) => onChange({ [field]: values })} />
      ))}
      {hasFilters(browsing) && (
        <Button variant="quiet" icon={X} onPress={() => onChange(NO_FILTERS)}>
          {t("filters.clear")}
        </Button>
      )}
    </div>
  );
}

/** Order of the list. A search is ordered by relevance. */
export function SortControl({ browsing, onChange }: FilterBarProps) {
  const { t, label } = useT();
  const isWide = useMediaQuery("(min-width: 761px)");
  if (browsing.query) return null;
  return (
    <span className={styles.sort}>
      <Select label={t("filters.sort")} options={SORTS.map((id) => ({ id, label: label("sort", id) }))} value={browsing.sort} onChange={(sort) => onChange({ sort })} showLabel={isWide} />
      <IconButton
        icon={browsing.isAscending ? ArrowUpNarrowWide : ArrowDownWideNarrow}
        label={t(browsing.isAscending ? "sort.ascending" : "sort.descending")}
        onPress={() => onChange({ isAscending: !browsing.isAscending })}
      />
    </span>
  );
}

/** A filter whose values are typed: files, modules, tags, sessions. */
function NamedFilter({ field, values, onChange }: { field: Named; values: readonly string[]; onChange: (values: string[]) => void }) {
  const { t, label } = useT();
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState("");
  const name = label("filters", field);
  if (values.length > 0) {
    return (
      <Button variant="chosen" icon={X} onPress={() => onChange([])} aria-label={t("filters.remove", { name, values: values.join(", ") })}>
        <span className={styles.set}>
          {name}: <code>{values.join(", ")}</code>
        </span>
      </Button>
    );
  }
  const apply = () => {
    setOpen(false);
    const given = text.split(",").map((each) => each.trim()).filter(Boolean);
    if (given.length > 0) onChange(given);
  };
  return (
    <>
      <Button variant="filter" icon={Plus} onPress={() => setOpen(true)}>
        {name}
      </Button>
      <Dialog title={name} isOpen={isOpen} onClose={() => setOpen(false)} footer={<Button variant="primary" onPress={apply}>{t("filters.apply")}</Button>}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            apply();
          }}
        >
          <TextField label={label("filters.help", field)} value={text} onChange={setText} autoFocus />
        </form>
      </Dialog>
    </>
  );
}
