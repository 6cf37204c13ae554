import type { Metadata } from 'next';
import type { ReactNode } from 'react';
import { OperatorSidebar } from '#components/shell/operator-sidebar';
import { ShellFrame } from '#components/shell/shell-frame';
import { getConsoleHost } from '#lib/console/db';
import { requireOperator } from '#lib/console/operator';

export const metadata: Metadata = {
  title: { template: '%s · Operator · Model Gateway', default: 'Operator · Model Gateway' },
};

export default async function OperatorLayout({ children }: { children: ReactNode }) {
  const { email, name } = await requireOperator();
  const { version = null } = getConsoleHost().env;
  return (
    <ShellFrame sidebar={<OperatorSidebar {...{ email, name, role: 'operator', operator: true, version }} />}>
      {children}
    </ShellFrame>
  );
}
