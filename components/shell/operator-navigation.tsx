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
        also: 'customers suspend credit promo limits',
        label: 'Workspaces',
        icon: <Building2 />,
      },
      { path: 'announcements', also: 'banner message', label: 'Announcements', icon: <Megaphone /> },
      { path: 'incidents', also: 'status outage', label: 'Incidents', icon: <Siren /> },
    ],
  },
  {
    label: 'Catalogue',
    pages: [
      { path: 'providers', also: 'credential api key test', label: 'Providers', icon: <Plug /> },
      { path: 'models', also: 'price', label: 'Models and prices', icon: <Boxes /> },
      { path: 'price-updates', also: 'prices', label: 'Price updates', icon: <RefreshCw /> },
      { path: 'catalogue', also: 'yaml apply import', label: 'Catalogue files', icon: <FileDiff /> },
    ],
  },
  {
    label: 'Operations',
    pages: [
      { path: 'health', also: 'breaker errors latency', label: 'Health of offers', icon: <Activity /> },
      { path: 'fleet', also: 'machines jobs', label: 'Processes', icon: <Server /> },
    ],
  },
  {
    label: 'Money',
    pages: [
      { path: 'ledger', also: 'verify money', label: 'Ledger', icon: <Scale /> },
      { path: 'payments', also: 'stripe top-ups', label: 'Payments', icon: <CreditCard /> },
      { path: 'charges', also: 'suspicious', label: 'Flagged charges', icon: <Flag /> },
    ],
  },
];

/** The URL of a page of the operator area: `operatorHref('providers')` is "/operator/providers". */
export function operatorHref(path: string): string {
  return `/operator/${path}`;
}
