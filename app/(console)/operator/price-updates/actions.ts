'use server';

import type { ActionResult } from '#lib/console/operation';
import { operatorAction } from '#lib/console/operator';
import { acceptProposals, dismissProposals } from '#lib/control/operations/catalogue/accept';
import { setDailyUpdate, updateCatalogue } from '#lib/control/operations/catalogue/update';

const update = operatorAction(updateCatalogue);

export const acceptAction = operatorAction(acceptProposals);

export const dismissAction = operatorAction(dismissProposals);

export const dailyAction = operatorAction(setDailyUpdate);

/** Without the proposals, which the page reads again. */
export async function updatePricesAction(): Promise<ActionResult<{ accepted: number; failures: string[] }>> {
  const answer = await update({});
  if (!answer.ok) return answer;
  const { accepted, failures } = answer.value;
  return { ok: true, value: { accepted: accepted.length, failures } };
}
