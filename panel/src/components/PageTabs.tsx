import type { ReactNode } from "react";
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

/** Parts of a page; the open one is in the address, so that it can be shared and the back button works. */
export function PageTabs({ label, tabs }: { label: string; tabs: readonly PageTab[] }) {
  const [parameters, setParameters] = useSearchParams();
  const asked = parameters.get("tab");
  const open = tabs.find((tab) => tab.id === asked)?.id ?? tabs[0]!.id;
  return (
    <Tabs
      selectedKey={open}
      onSelectionChange={(key) => key !== open && setParameters(key === tabs[0]!.id ? {} : { tab: String(key) })}
      keyboardActivation="manual"
    >
      <div className={styles.scroller}>
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
