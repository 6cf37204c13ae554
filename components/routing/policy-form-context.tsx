'use client';

import { createContext, type ReactNode, useContext } from 'react';
import type { DraftPolicy } from '#lib/gateway/routing/pure/policy/read';

/** Why a draft cannot be published, and which part is at fault. */
export interface PolicyFault {
  readonly at: readonly string[];
  readonly message: string;
}

interface PolicyForm {
  readonly policy: DraftPolicy;
  /** For a model's policy: the default policy, whose keys it inherits; null: this is the default. */
  readonly inherited: DraftPolicy | null;
  readonly models: readonly string[];
  readonly providers: readonly string[];
  /** Whether nothing can be changed. */
  readonly locked: boolean;
  /** undefined removes the key. */
  set(key: string, value: unknown): void;
  /** Faults in a part of the policy, including nested ones. */
  faultsAt(...at: readonly string[]): readonly PolicyFault[];
}

const Context = createContext<PolicyForm | null>(null);

export function PolicyFormProvider({
  faults,
  children,
  ...form
}: Omit<PolicyForm, 'faultsAt'> & { faults: readonly PolicyFault[]; children: ReactNode }) {
  const faultsAt = (...at: readonly string[]) =>
    faults.filter((fault) => at.every((part, index) => fault.at[index] === part));
  return <Context value={{ ...form, faultsAt }}>{children}</Context>;
}

export function usePolicyForm(): PolicyForm {
  const form = useContext(Context);
  if (form === null) throw new Error('this part of the form must be inside a policy form');
  return form;
}
