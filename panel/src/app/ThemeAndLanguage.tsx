import { Languages, Monitor, Moon, Sun, type LucideIcon } from "lucide-react";
import { IconButton } from "@/components/Button";
import { LANGUAGES, setLanguage, useT, type Language } from "@/i18n";
import { setTheme, THEMES, useTheme, type Theme } from "./theme";
import styles from "./ThemeAndLanguage.module.css";

const ICONS: Record<Theme, LucideIcon> = { system: Monitor, light: Sun, dark: Moon };

export function ThemeAndLanguage() {
  const { t, label, language } = useT();
  const theme = useTheme();
  const nextTheme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
  const languages = Object.keys(LANGUAGES) as Language[];
  const nextLanguage = languages[(languages.indexOf(language) + 1) % languages.length]!;
  return (
    <div className={styles.row}>
      <IconButton
        icon={ICONS[theme]}
        label={t("shell.theme", { theme: label("theme", theme) })}
        onPress={() => setTheme(nextTheme)}
      />
      <IconButton icon={Languages} label={LANGUAGES[nextLanguage]} onPress={() => void setLanguage(nextLanguage)} />
    </div>
  );
}
