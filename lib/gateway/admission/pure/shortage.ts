import { type Refusal, refusal } from '#lib/core/errors';
import { tagTitle } from '#lib/core/facts/tags';
import { formatUsd } from '#lib/core/money';
import type { HoldRequest, Shortage } from '#lib/gateway/admission/money-store';

const caps = {
  day_limit_reached: 'daily spend cap',
  d7_limit_reached: '7-day spend cap',
  d30_limit_reached: '30-day spend cap',
  quota_exceeded: 'lifetime quota',
} as const;

/** Length of the sliding caps, hours (contract: money/sliding-caps). */
export const slidingHours: Partial<Record<Shortage['code'], number>> = {
  d7_limit_reached: 168,
  d30_limit_reached: 720,
};

/**
 * A 402 (contract: money/cap-message, request/should-retry): says when it frees up. If settled spend would
 * admit it, only running calls are in the way: then a retry helps, and the answer says so.
 * @param freesAtMs ms since the epoch, null when no time can be named.
 */
export function refuseShort(shortage: Shortage, hold: HoldRequest, freesAtMs: number | null): Refusal {
  const { code, runningOnly } = shortage;
  const what = reached(shortage, hold);
  if (runningOnly) {
    const fit = hold.mustFit ? ` This request needs $${formatUsd(hold.amountNano)}.` : '';
    return refusal(code, `${what}, counting calls that are still running; retry when they finish.${fit}`, {
      shouldRetry: true,
    });
  }
  if (shortage.besideSimulated) return refusal(code, `${what}; ${ofSimulated}.`);
  const then = shortage.ofBudget
    ? ofBudget(freesAtMs)
    : remedy(code, freesAtMs, shortage.ofTag ? 'budget' : 'cap');
  return refusal(code, `${what}; ${then}.`);
}

/** Which bound was reached, and whose. */
function reached(shortage: Shortage, hold: HoldRequest): string {
  const { code, ofTag } = shortage;
  const bound = formatUsd(shortage.boundNano);
  if (shortage.ofBudget) return `This workspace has reached its monthly budget of $${bound}`;
  if (code === 'insufficient_balance') return funds(shortage, hold);
  if (ofTag)
    return `${tagTitle(ofTag)} has reached its ${caps[code].replace('spend cap', 'budget')} of $${bound}`;
  return `This API key has reached its ${caps[code]} of $${bound}`;
}

function ofBudget(endsAtMs: number | null): string {
  const when = momentOf(endsAtMs) ?? 'the start of the next month';
  return `it resets at ${when}, or raise it on the Billing page of the console`;
}

function momentOf(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString().replace('.000Z', 'Z');
}

/** Test payments would only add more of it. */
const ofSimulated =
  'call a model of the simulated provider (sandbox), or ask the operator of this gateway for real credit, then retry';

function funds({ boundNano, besideSimulated }: Shortage, hold: HoldRequest): string {
  if (boundNano <= 0n) {
    return besideSimulated
      ? 'This balance is simulated money and pays only simulated models'
      : 'This workspace has no funds left';
  }
  const rest = besideSimulated ? ', without simulated money, which pays only simulated models,' : '';
  return hold.mustFit && boundNano < hold.amountNano
    ? `This workspace has $${formatUsd(boundNano)} left${rest} and this request may cost $${formatUsd(hold.amountNano)}`
    : `All of this workspace's funds${rest} are in use`;
}

function remedy(code: Shortage['code'], freesAtMs: number | null, bound: 'cap' | 'budget'): string {
  const when = momentOf(freesAtMs);
  switch (code) {
    case 'insufficient_balance':
      return 'add funds on the Billing page of the console, or ask the operator of this gateway, then retry';
    case 'quota_exceeded':
      return 'raise the quota in the console; it does not reset by itself';
    case 'day_limit_reached':
      return when
        ? `it resets at ${when}, or raise the ${bound}`
        : `it resets at midnight, or raise the ${bound}`;
    default:
      return when
        ? `it frees up from ${when} on, or raise the ${bound}`
        : `wait for older spend to leave it, or raise the ${bound}`;
  }
}

/**
 * The money store cannot be asked and no lease covers (contract: admission/coordinator).
 * @param why calls go on without it, and this one does not; a clause about the database.
 */
export function storeAway(why: string | null = null): Refusal {
  const reason = why === null ? '' : `, and ${why}`;
  return refusal(
    'local_quota_not_configured',
    `The gateway cannot reach the database that holds the balances${reason}; retry in a few seconds.`,
  );
}
