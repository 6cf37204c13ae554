'use client';

import { SignUpForm } from '#components/account/sign-up-form';
import type { FormAnswer } from '#components/form/answer';

interface OperatorFormProps {
  create(input: unknown): Promise<FormAnswer<{ slug: string }>>;
}

/** Signs up with the link that the start printed: its own part stands behind the # of this page's address. */
export function OperatorForm({ create }: OperatorFormProps) {
  return <SignUpForm signUp={(input) => create({ ...input, token: window.location.hash.slice(1) })} />;
}
