import {
  Activity,
  Boxes,
  Building2,
  CreditCard,
  FileDiff,
  Flag,
  Megaphone,
  Plug,
  RefreshCw,
  Scale,
  Server,
  Siren,
} from 'lucide-react';
import type { DestinationGroup } from '#components/shell/navigation';

/** The pages of the operator area, in order. List only pages that exist. */
export const operatorDestinations: readonly DestinationGroup[] = [
  {
    label: 'Customers',
    pages: [
      {
        path: 'workspaces',

        label: 'Workspaces',
        icon: <Building2 />,
      },
      { path: 'announcements', label: 'Announcements', icon: <Megaphone /> },
      { path: 'incidents', label: 'Incidents', icon: <Siren /> },
    ],
  },
  {
    label: 'Catalogue',
    pages: [
      { path: 'providers', label: 'Providers', icon: <Plug /> },
      { path: 'models', label: 'Models and prices', icon: <Boxes /> },
      { path: 'price-updates', label: 'Price updates', icon: <RefreshCw /> },
      { path: 'catalogue', label: 'Catalogue files', icon: <FileDiff /> },
    ],
  },
  {
    label: 'Operations',
    pages: [
      { path: 'health', label: 'Health of offers', icon: <Activity /> },
      { path: 'fleet', label: 'Processes', icon: <Server /> },
    ],
  },
  {
    label: 'Money',
    pages: [
      { path: 'ledger', label: 'Ledger', icon: <Scale /> },
      { path: 'payments', label: 'Payments', icon: <CreditCard /> },
      { path: 'charges', label: 'Flagged charges', icon: <Flag /> },
    ],
  },
];

/** The URL of a page of the operator area: `operatorHref('providers')` is "/operator/providers". */
export function operatorHref(path: string): string {
  return `/operator/${path}`;
}
