import type { Metadata } from 'next';
import type { ReactNode } from 'react';
import { PaletteProvider } from '#components/palette/palette-provider';
import { OperatorSidebar } from '#components/shell/operator-sidebar';
import { ShellFrame } from '#components/shell/shell-frame';
import { getConsoleHost } from '#lib/console/db';
import { readForOperator, requireOperator } from '#lib/console/operator';
import { listOwnWorkspaces } from '#lib/control/operations/user/own';

export const metadata: Metadata = {
  title: { template: '%s · Operator · Model Gateway', default: 'Operator · Model Gateway' },
};

export default async function OperatorLayout({ children }: { children: ReactNode }) {
  const { email, name } = await requireOperator();
  const { version = null } = getConsoleHost().env;
  const own = await readForOperator(listOwnWorkspaces);
  const workspaces = own.data.map(({ slug, name }) => ({ slug, name }));
  return (
    <PaletteProvider workspace={null} workspaces={workspaces} operator>
      <ShellFrame
        sidebar={<OperatorSidebar {...{ email, name, role: 'operator', operator: true, version }} />}
      >
        {children}
      </ShellFrame>
    </PaletteProvider>
  );
}
