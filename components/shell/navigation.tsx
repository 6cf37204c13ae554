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
    pages: [{ path: '', label: 'Overview', icon: <LayoutDashboard /> }],
  },
  {
    label: 'Build',
    pages: [
      { path: 'playground', label: 'Playground', icon: <FlaskConical /> },
      { path: 'models', label: 'Models', icon: <Boxes /> },
      {
        path: 'keys',

        label: 'API keys',
        icon: <KeyRound />,
      },
      {
        path: 'tag-budgets',

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

        label: 'Routing',
        icon: <Route />,
      },
      { path: 'own-keys', label: 'Own provider keys', icon: <KeySquare /> },
    ],
  },
  {
    label: 'Observe',
    pages: [
      { path: 'logs', label: 'Logs', icon: <ScrollText /> },
      { path: 'usage', label: 'Usage', icon: <ChartColumn /> },
      { path: 'alerts', label: 'Alerts', icon: <Bell /> },
    ],
  },
  {
    label: 'Account',
    pages: [
      {
        path: 'billing',

        label: 'Billing',
        icon: <CreditCard />,
      },
      { path: 'members', label: 'Members', icon: <Users /> },
      {
        path: 'management-keys',

        label: 'Management keys',
        icon: <Terminal />,
      },
      { path: 'audit', label: 'Audit log', icon: <History /> },
      {
        path: 'settings',

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
