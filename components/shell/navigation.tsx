import { KeyRound, ScrollText } from 'lucide-react';
import type { ReactNode } from 'react';

export interface Destination {
  /** Last part of the address, below the workspace. */
  readonly path: string;
  readonly label: string;
  readonly icon: ReactNode;
}

/** The pages of a workspace, in groups. Only pages that exist stand here. */
export const destinations: readonly { label: string; pages: readonly Destination[] }[] = [
  { label: 'Build', pages: [{ path: 'keys', label: 'API keys', icon: <KeyRound /> }] },
  { label: 'Observe', pages: [{ path: 'logs', label: 'Logs', icon: <ScrollText /> }] },
];
