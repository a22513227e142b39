import { useEffect, useRef, type ReactNode } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { useSearchParams } from "wouter";
import styles from "./PageTabs.module.css";

export interface PageTab {
  id: string;
  label: string;
  /** Beside the label, such as a number. */
  aside?: ReactNode;
  render: () => ReactNode;
}

interface PageTabsProps {
  label: string;
  tabs: readonly PageTab[];
  /** Name of the parameter in the address. */
  parameter?: string;
  /** Parameters that every tab has. */
  kept?: readonly string[];
}

/** Parts of a page; the open one is in the address, so that it can be shared and the back button works. */
export function PageTabs({ label, tabs, parameter = "tab", kept = [] }: PageTabsProps) {
  const [parameters, setParameters] = useSearchParams();
  const scroller = useRef<HTMLDivElement>(null);
  const asked = parameters.get(parameter);
  const open = tabs.find((tab) => tab.id === asked)?.id ?? tabs[0]!.id;
  useEffect(() => {
    // The tabs are in the page one frame after their list.
    const frame = requestAnimationFrame(() => scroller.current?.querySelector("[data-selected]")?.scrollIntoView({ block: "nearest", inline: "center" }));
    return () => cancelAnimationFrame(frame);
  }, [open]);
  const select = (key: string) =>
    setParameters((before) => {
      const after = new URLSearchParams([...before].filter(([name]) => kept.includes(name)));
      if (key !== tabs[0]!.id) after.set(parameter, key);
      return after;
    });
  return (
    <Tabs selectedKey={open} onSelectionChange={(key) => key !== open && select(String(key))} keyboardActivation="manual">
      <div className={styles.scroller} ref={scroller}>
        <TabList aria-label={label} className={styles.list!}>
          {tabs.map((tab) => (
            <Tab key={tab.id} id={tab.id} className={styles.tab!}>
              {tab.label}
              {tab.aside !== undefined && <span className={styles.aside}>{tab.aside}</span>}
            </Tab>
          ))}
        </TabList>
      </div>
      {tabs.map((tab) => (
        <TabPanel key={tab.id} id={tab.id} className={styles.panel!}>
          {tab.render()}
        </TabPanel>
      ))}
    </Tabs>
  );
}
