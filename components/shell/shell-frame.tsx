import type { ReactNode } from 'react';
import { LoadedKeepFocus } from '#components/shell/loaded-keep-focus';
import { LoadedWaitBar } from '#components/shell/loaded-wait-bar';
import { MobileBar } from '#components/shell/mobile-bar';

/** Sidebar and page; below 1024 px the sidebar becomes a sheet behind a button. */
export function ShellFrame({ sidebar, children }: { sidebar: ReactNode; children: ReactNode }) {
  return (
    <div className="lg:grid lg:grid-cols-[15.5rem_minmax(0,1fr)] print:block">
      <LoadedWaitBar />
      <LoadedKeepFocus />
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-surface focus:px-3 focus:py-2"
      >
        Skip to content
      </a>
      <aside className="sticky top-0 hidden h-dvh overflow-y-auto border-r bg-sunken lg:block print:hidden">
        {sidebar}
      </aside>
      <MobileBar sidebar={sidebar} />
      <main id="content" tabIndex={-1} className="min-w-0 outline-none">
        <div className="mx-auto grid max-w-7xl gap-6 px-4 min-[110rem]:max-w-[88rem] min-[150rem]:max-w-[104rem] py-6 sm:px-8 sm:py-8 print:block print:max-w-none print:p-0">
          {children}
        </div>
      </main>
    </div>
  );
}
