import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Button as AriaButton, Tooltip, TooltipTrigger, type ButtonProps as AriaButtonProps } from "react-aria-components";
import styles from "./Button.module.css";

export interface ButtonProps extends Omit<AriaButtonProps, "className" | "children" | "style"> {
  variant?: "primary" | "normal" | "quiet" | "danger" | "filter" | "chosen";
  size?: "s" | "m";
  icon?: LucideIcon;
  children: ReactNode;
}

export function Button({ variant = "normal", size = "m", icon: Icon, children, ...rest }: ButtonProps) {
  return (
    <AriaButton {...rest} className={`${styles.button} ${styles[variant]} ${styles[size]}`}>
      {Icon && <Icon aria-hidden size={size === "s" ? 14 : 16} />}
      {children}
    </AriaButton>
  );
}

export interface IconButtonProps extends Omit<AriaButtonProps, "className" | "children" | "style" | "aria-label"> {
  icon: LucideIcon;
  /** Name for screen readers, shown as the tooltip. */
  label: string;
  /** Key of the shortcut, shown in the tooltip. */
  hint?: string;
  tone?: "normal" | "danger";
  isActive?: boolean;
}

/** A button with an icon only; its label is a tooltip. */
export function IconButton({ icon: Icon, label, hint, tone = "normal", isActive = false, ...rest }: IconButtonProps) {
  return (
    <TooltipTrigger delay={400} closeDelay={0}>
      <AriaButton
        {...rest}
        aria-label={label}
        aria-pressed={isActive || undefined}
        className={`${styles.icon} ${styles[`tone-${tone}`]} ${isActive ? styles.active : ""}`}
      >
        <Icon aria-hidden size={16} />
      </AriaButton>
      <Tooltip className={styles.tooltip!} offset={6}>
        {label}
        {hint && <kbd className={styles.hint}>{hint}</kbd>}
      </Tooltip>
    </TooltipTrigger>
  );
}
