'use client';

import { SignUpForm } from '#components/account/sign-up-form';
import type { FormAnswer } from '#components/form/answer';

interface OperatorFormProps {
  create(input: unknown): Promise<FormAnswer<{ slug: string }>>;
}

/** Signs up with the link printed at startup; its token is in the fragment of this page's URL. */
export function OperatorForm({ create }: OperatorFormProps) {
  return <SignUpForm signUp={(input) => create({ ...input, token: window.location.hash.slice(1) })} />;
}
