import {
  Bell,
  Boxes,
  ChartColumn,
  CreditCard,
  FlaskConical,
  History,
  KeyRound,
  KeySquare,
  LayoutDashboard,
  Route,
  ScrollText,
  Settings,
  Terminal,
  Users,
  Wallet,
} from 'lucide-react';
import type { ReactNode } from 'react';

export interface Destination {
  /** Last part of the URL path, below the workspace; '' is the workspace itself. */
  readonly path: string;
  readonly label: string;
  /** Other words that people look for it with. */
  readonly also?: string;
  readonly icon: ReactNode;
}

export interface DestinationGroup {
  /** null: its pages are at the top, without a heading. */
  readonly label: string | null;
  readonly pages: readonly Destination[];
}

/** The pages of a workspace, in order. List only pages that exist; a group without pages is not shown. */
export const destinations: readonly DestinationGroup[] = [
  {
    label: null,
    pages: [{ path: '', also: 'home dashboard', label: 'Overview', icon: <LayoutDashboard /> }],
  },
  {
    label: 'Build',
    pages: [
      { path: 'playground', also: 'try chat test prompt', label: 'Playground', icon: <FlaskConical /> },
      { path: 'models', also: 'prices pricing price compare', label: 'Models', icon: <Boxes /> },
      {
        path: 'keys',
        also: 'new key token secret spend daily cap limit quota',
        label: 'API keys',
        icon: <KeyRound />,
      },
      {
        path: 'tag-budgets',
        also: 'spend cap customers tags',
        label: 'User and tag budgets',
        icon: <Wallet />,
      },
    ],
  },
  {
    label: 'Route',
    pages: [
      {
        path: 'routing',
        also: 'policy fallback explain providers order alias',
        label: 'Routing',
        icon: <Route />,
      },
      { path: 'own-keys', also: 'byok credentials', label: 'Own provider keys', icon: <KeySquare /> },
    ],
  },
  {
    label: 'Observe',
    pages: [
      { path: 'logs', also: 'calls requests receipt csv export', label: 'Logs', icon: <ScrollText /> },
      { path: 'usage', also: 'spend cost charts csv export', label: 'Usage', icon: <ChartColumn /> },
      { path: 'alerts', also: 'webhook notifications email', label: 'Alerts', icon: <Bell /> },
    ],
  },
  {
    label: 'Account',
    pages: [
      {
        path: 'billing',
        also: 'balance invoice receipt monthly budget spend automatic top-up',
        label: 'Billing',
        icon: <CreditCard />,
      },
      { path: 'members', also: 'invite people team users roles', label: 'Members', icon: <Users /> },
      {
        path: 'management-keys',
        also: 'management api automation token',
        label: 'Management keys',
        icon: <Terminal />,
      },
      { path: 'audit', also: 'changes history who', label: 'Audit log', icon: <History /> },
      {
        path: 'settings',
        also: 'time zone rate limits rename slug retention delete',
        label: 'Settings',
        icon: <Settings />,
      },
    ],
  },
];

/** The URL of a page: `destinationHref('acme', 'keys')` is "/acme/keys". */
export function destinationHref(workspace: string, path: string): string {
  return path === '' ? `/${workspace}` : `/${workspace}/${path}`;
}

/** Whether a workspace has a page with this path. */
export function hasPage(path: string): boolean {
  return destinations.some(({ pages }) => pages.some((page) => page.path === path));
}
