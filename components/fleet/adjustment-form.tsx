'use client';

import { PlainForm } from '#components/fleet/plain-form';
import type { FormAnswer } from '#components/form/answer';
import { adjustmentQuestion } from '#lib/console/billing/adjustment';
import type { FormField } from '#lib/console/form';

interface AdjustmentFormProps {
  /** Slug. */
  workspace: string;
  /** Exact, in dollars. */
  balance: string;
  fields: readonly FormField[];
  ownRef: string;
  send(workspace: string, input: Readonly<Record<string, unknown>>): Promise<FormAnswer<unknown>>;
}

/** An adjustment of the balance, which is added once its outcome was confirmed. */
export function AdjustmentForm({ workspace, balance, fields, ownRef, send }: AdjustmentFormProps) {
  return (
    <PlainForm
      workspace={workspace}
      fields={fields}
      ownRef={ownRef}
      verb={{ idle: 'Add adjustment', pending: 'Adding…' }}
      question={({ amount = '' }) => adjustmentQuestion(balance, amount)}
      done="Adjustment added"
      send={send}
    />
  );
}
