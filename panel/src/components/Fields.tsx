import { Check, ChevronDown, Search, X } from "lucide-react";
import { forwardRef, type ReactNode } from "react";
import {
  Button,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Menu,
  MenuItem,
  MenuTrigger,
  Popover,
  SearchField as AriaSearchField,
  Select as AriaSelect,
  SelectValue,
  TextArea,
  TextField as AriaTextField,
  type Selection,
} from "react-aria-components";
import { useT } from "@/i18n";
import styles from "./Fields.module.css";

export interface Option<T extends string = string> {
  id: T;
  label: string;
}

interface SelectProps<T extends string> {
  label: string;
  options: readonly Option<T>[];
  value: T;
  onChange: (value: T) => void;
  /** Show the label beside the field instead of only naming it for screen readers. */
  showLabel?: boolean;
}

/** One choice of a list. */
export function Select<T extends string>({ label, options, value, onChange, showLabel = false }: SelectProps<T>) {
  return (
    <AriaSelect className={styles.select!} value={value} onChange={(key) => key !== null && onChange(key as T)}>
      <Label className={showLabel ? styles.sideLabel! : "visually-hidden"}>{label}</Label>
      <Button className={styles.trigger!}>
        <SelectValue className={styles.value!} />
        <ChevronDown aria-hidden size={14} className={styles.chevron} />
      </Button>
      <Popover className={styles.popover!} offset={4}>
        <ListBox className={styles.list!}>
          {options.map((option) => (
            <ListBoxItem key={option.id} id={option.id} textValue={option.label} className={styles.item!}>
              <span>{option.label}</span>
              <Check aria-hidden size={14} className={styles.check} />
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}

interface MultiSelectProps<T extends string> {
  label: string;
  options: readonly Option<T>[];
  values: readonly T[];
  onChange: (values: T[]) => void;
}

/** Any number of choices of a list; the trigger shows how many are chosen. */
export function MultiSelect<T extends string>({ label, options, values, onChange }: MultiSelectProps<T>) {
  const { t } = useT();
  const chosen = options.filter((option) => values.includes(option.id));
  const summary = chosen.length === 1 ? chosen[0]!.label : chosen.length > 1 ? String(chosen.length) : "";
  return (
    <MenuTrigger>
      <Button className={`${styles.trigger} ${summary ? styles.isSet : ""}`}>
        <span>{label}</span>
        {summary && <span className={styles.summary}>{summary}</span>}
        <ChevronDown aria-hidden size={14} className={styles.chevron} />
      </Button>
      <Popover className={styles.popover!} offset={4}>
        <Menu
          aria-label={label}
          className={styles.list!}
          selectionMode="multiple"
          selectedKeys={values}
          onSelectionChange={(keys: Selection) => onChange(keys === "all" ? options.map((each) => each.id) : ([...keys] as T[]))}
          renderEmptyState={() => <p className={styles.none}>{t("filters.none")}</p>}
        >
          {options.map((option) => (
            <MenuItem key={option.id} id={option.id} textValue={option.label} className={styles.item!}>
              <span>{option.label}</span>
              <Check aria-hidden size={14} className={styles.check} />
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

interface SearchFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  hint?: ReactNode;
}

export const SearchField = forwardRef<HTMLInputElement, SearchFieldProps>(function SearchField(
  { label, value, onChange, placeholder, hint },
  ref,
) {
  return (
    <AriaSearchField className={styles.search!} aria-label={label} value={value} onChange={onChange}>
      <Search aria-hidden size={16} className={styles.lens} />
      <Input ref={ref} className={styles.searchInput!} placeholder={placeholder ?? label} />
      {value === "" ? (
        <span className={styles.hint}>{hint}</span>
      ) : (
        <Button className={styles.clear!}>
          <X aria-hidden size={14} />
        </Button>
      )}
    </AriaSearchField>
  );
});

interface TextFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Number of lines; more than one makes a text area. */
  rows?: number;
  placeholder?: string;
  isRequired?: boolean;
  autoFocus?: boolean;
}

export function TextField({ label, value, onChange, rows = 1, placeholder, isRequired, autoFocus }: TextFieldProps) {
  return (
    <AriaTextField className={styles.field!} value={value} onChange={onChange} isRequired={isRequired ?? false} autoFocus={autoFocus ?? false}>
      <Label className={styles.label!}>{label}</Label>
      {rows > 1 ? (
        <TextArea className={styles.input!} rows={rows} placeholder={placeholder ?? ""} />
      ) : (
        <Input className={styles.input!} placeholder={placeholder ?? ""} />
      )}
    </AriaTextField>
  );
}
