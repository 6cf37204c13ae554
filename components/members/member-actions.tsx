'use client';

import { createContext, type ReactNode, useContext } from 'react';
import type { FormAnswer } from '#components/form/answer';
import type { Role } from '#lib/core/role';

type Change<Input, Made = unknown> = (
  workspace: string,
  input: Input,
  /** Entity tag of what the page shows. */
  seen?: string,
) => Promise<FormAnswer<Made>>;

/** The keys that stop working on a removal or a lower role. */
export interface Stopping {
  readonly apiKeys: number;
  readonly managementKeys: number;
  readonly stopping: readonly {
    readonly id: string;
    readonly name: string;
    readonly display: string;
    readonly kind: 'api-key' | 'management-key';
  }[];
}

export interface MemberActions {
  readonly invite: Change<{ email: string; role: string }>;
  readonly resend: Change<{ id: string }>;
  readonly link: Change<{ id: string }, { path: string }>;
  readonly cancel: Change<{ id: string }>;
  readonly set: Change<{ member: string; role: string }>;
  readonly remove: Change<{ member: string }>;
  readonly leave: Change<{ workspace: string }>;
  readonly transfer: Change<{ workspace: string; member: string }>;
  whatStops(workspace: string, input: { member: string; role?: string }): Promise<FormAnswer<Stopping>>;
}

interface MemberPage {
  readonly actions: MemberActions;
  /** Slug. */
  readonly workspace: string;
  /** Why nothing can be changed here; null if it can. */
  readonly locked: string | null;
  /** Whether the gateway sends email; otherwise, links of invitations are copied. */
  readonly mails: boolean;
  /** Whether the current user may change owners. */
  readonly changesOwners: boolean;
  /** The roles that the current user may assign. */
  readonly roles: readonly Role[];
}

const MemberPageContext = createContext<MemberPage | null>(null);

export function MemberPageProvider({ children, ...page }: MemberPage & { children: ReactNode }) {
  return <MemberPageContext value={page}>{children}</MemberPageContext>;
}

/** @throws Error outside a MemberPageProvider. */
export function useMemberPage(): MemberPage {
  const page = useContext(MemberPageContext);
  if (!page) throw new Error('useMemberPage must be used inside a MemberPageProvider');
  return page;
}
