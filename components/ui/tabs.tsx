'use client';

import { Tabs as BaseTabs } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';

interface TabsProps {
  label: string;
  tabs: readonly { value: string; label: string; content: ReactNode }[];
}

/** Switches between a few views of the same thing. */
export function Tabs({ label, tabs }: TabsProps) {
  return (
    <BaseTabs.Root defaultValue={tabs[0]?.value ?? null} className="grid min-w-0 gap-3">
      <BaseTabs.List aria-label={label} className="flex flex-wrap gap-x-1 border-b">
        {tabs.map((tab) => (
          <BaseTabs.Tab
            key={tab.value}
            value={tab.value}
            className="-mb-px h-8 rounded-t-md border-transparent border-b-2 px-2.5 text-[0.8125rem] text-muted hover:text-ink data-[active]:border-accent data-[active]:font-medium data-[active]:text-ink"
          >
            {tab.label}
          </BaseTabs.Tab>
        ))}
      </BaseTabs.List>
      {tabs.map((tab) => (
        <BaseTabs.Panel key={tab.value} value={tab.value} className="min-w-0">
          {tab.content}
        </BaseTabs.Panel>
      ))}
    </BaseTabs.Root>
  );
}
