import { type Refusal, refusal } from '#lib/core/errors';
import { isTimeZone } from '#lib/core/time-zone';
import type { Shortage, Want } from '#lib/gateway/admission/money-store';

/** A call that waits for PostgreSQL to fund it. */
export interface Waiter {
  readonly want: Want;
  /** IANA zone of the workspace; null: that of its last claim. */
  readonly timeZone: string | null;
  /**
   * Takes its money; `allowance`: the database is away.
   * @returns false when the lease was spent meanwhile: ask again; or the allowance is nothing for it.
   */
  take(from: Source): boolean;
  refuse(refused: Refusal): void;
  /** It was answered, or has stopped waiting. */
  done: boolean;
  /** What it is refused with when it has waited too long; null: that the database cannot be reached. */
  late: Refusal | null;
  shortage: Shortage | null;
}

/** Where the money of a call comes from. */
export type Source = 'lease' | 'row' | 'allowance';

/** How long a call waits for PostgreSQL in all. */
const WAIT_MS = 6_000;

type Answer<Value> = Value | Refusal | Promise<Value | Refusal>;

/**
 * @param timeZone as stored; an unknown one is refused later (contract: admission/stored-limits), not here.
 * @param answer called exactly once.
 * @param take the answer once there is money; null when the lease was spent meanwhile.
 */
export function waiterOf<Value>(
  want: Want,
  timeZone: string | null,
  answer: (value: Answer<Value>) => void,
  take: (from: Source) => Answer<Value> | null,
): Waiter {
  const finish = (value: Answer<Value>): void => {
    if (waiter.done) return;
    clearTimeout(timer);
    waiter.done = true;
    answer(value);
  };
  const waiter: Waiter = {
    want,
    timeZone: timeZone === null || isTimeZone(timeZone) ? timeZone : 'UTC',
    done: false,
    late: null,
    shortage: null,
    refuse: finish,
    take: (from) => {
      const taken = take(from);
      if (taken === null) return false;
      finish(taken);
      return true;
    },
  };
  const timer = setTimeout(() => finish(waiter.late ?? storeAway()), WAIT_MS);
  return waiter;
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
