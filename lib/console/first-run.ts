import type { z } from 'zod';
import { findRefusalHelp } from '#lib/console/show/refusal-help';
import type { showFirstRun } from '#lib/control/operations/workspace/first-run';
import { showMoney, showMoneyDown } from '#lib/core/show-money';

/** The progress of a new workspace, for its panel. */
export interface FirstRunState {
  /** "$10.00"; null: nothing can be spent. */
  readonly funds: string | null;
  readonly keys: boolean;
  readonly answered: boolean;
  /** The first answered call; until there is one, the latest. */
  readonly call: {
    readonly id: string;
    /** "sandbox/echo, $0.000012"; for a refusal "402 insufficient_balance". */
    readonly facts: string;
    /** What to do about a refusal; null if there is none, or nothing to add. */
    readonly help: string | null;
  } | null;
}

export function firstRunStateOf(shown: z.output<typeof showFirstRun.output>): FirstRunState {
  const { available, funded, keys, answered, call } = shown;
  return {
    funds: funded ? showMoneyDown(available) : null,
    keys,
    answered,
    call: call && {
      id: call.id,
      facts: answered
        ? `${call.model ?? 'a call'}, ${showMoney(call.cost)}`
        : `${call.status} ${call.errorCode ?? ''}`.trim(),
      help: answered ? null : (findRefusalHelp(call.errorCode)?.text ?? null),
    },
  };
}
