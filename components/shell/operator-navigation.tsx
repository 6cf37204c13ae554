import { Plug } from 'lucide-react';
import type { DestinationGroup } from '#components/shell/navigation';

/** The pages of the operator area, in their order. Only pages that exist stand here. */
export const operatorDestinations: readonly DestinationGroup[] = [
  { label: 'Customers', pages: [] },
  { label: 'Catalogue', pages: [{ path: 'providers', label: 'Providers', icon: <Plug /> }] },
  { label: 'Operation', pages: [] },
];

/** The address of a page of the operator area: `operatorHref('providers')` is "/operator/providers". */
export function operatorHref(path: string): string {
  return `/operator/${path}`;
}
