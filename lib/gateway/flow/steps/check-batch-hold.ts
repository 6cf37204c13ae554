import { Refused, refusal } from '#lib/core/errors';
import { formatUsd } from '#lib/core/money';
import { estimate } from '#lib/gateway/admission/pure/estimate';
import type { PlannedCall } from '#lib/gateway/flow/call/call';
import { holdTermsOf } from '#lib/gateway/flow/call/hold-terms';
import { rulesFor } from '#lib/gateway/routing/pure/rules';

/**
 * A batch that would hold more than the workspace's policy allows is not begun (contract: batches/hold).
 * @throws Refused `invalid_body`.
 */
export function checkBatchHold(call: PlannedCall): void {
  const { ask, plan, snapshot } = call;
  const { maxBatchHoldNano } = rulesFor(snapshot.policies, ask.model);
  if (maxBatchHoldNano === null) return;
  const { holdNano } = estimate(ask, plan.targets, holdTermsOf(call));
  if (holdNano <= maxBatchHoldNano) return;
  throw new Refused(
    refusal(
      'invalid_body',
      `This batch would hold $${formatUsd(holdNano)}, and the workspace's policy allows $${formatUsd(maxBatchHoldNano)} ("maxBatchHold"); send fewer lines, give them smaller budgets, or have the policy changed.`,
    ),
  );
}
