import type { Refusal } from '#lib/core/errors';
import type { Unreadable } from '#lib/core/translation/conversation';
import { describeOffer } from '#lib/gateway/routing/pure/exclude';
import { describeModel } from '#lib/gateway/routing/pure/fit';
import {
  asideUntil,
  attemptsOf,
  candidates,
  misfitOf,
  noTarget,
  type PlanInput,
  targetOf,
  wantedOf,
} from '#lib/gateway/routing/pure/plan';
import { rulesFor } from '#lib/gateway/routing/pure/rules';
import type { Skipped, Target, TimeLimits } from '#lib/gateway/routing/pure/target';
import { timeLimitsOf } from '#lib/gateway/routing/pure/time-limits';

/** One place that a call would try. */
export interface Candidate {
  readonly target: Target;
  /** Set aside by the breaker until then, ms since the epoch; null: in service. */
  readonly openUntilMs: number | null;
}

/** A plan with its reasons, for `gateway route explain` and the console. */
export interface Explanation {
  /** In the order of trying, at most `maxAttempts`. */
  readonly candidates: readonly Candidate[];
  /** Every other offer and fallback model, each with the reason. */
  readonly skipped: readonly Skipped[];
  readonly timeLimits: TimeLimits;
  readonly failure: Refusal | null;
}

/** The very plan that a call with this input gets, and why every other offer is not in it. Pure. */
export function explain(input: PlanInput): Explanation {
  const rules = rulesFor(input.snapshot.policies, input.ask.model);
  const wanted = wantedOf(input, rules);
  const skipped: Skipped[] = [];
  const offers = candidates(input, rules, {
    offer: (why, model, offer) =>
      skipped.push({
        provider: offer.provider.id,
        model: model.id,
        why: describeOffer(why, offer, wanted),
      }),
    model: (why, slug, model) =>
      skipped.push({ provider: '*', model: slug, why: describeModel(why, input.family, model) }),
  });
  const most = attemptsOf(input, rules);
  const found: Candidate[] = [];
  let refused: Unreadable | null = null;
  for (const offer of offers) {
    const target = targetOf(input, offer);
    if (!target) continue;
    const why = misfitOf(input, target);
    if (why !== null) {
      refused ??= why;
      skipped.push({
        provider: offer.provider.id,
        model: offer.modelId,
        why: `cannot be translated: ${why.message}`,
      });
      continue;
    }
    const openUntilMs = asideUntil(input, offer);
    const open = openUntilMs > input.nowMs;
    if (found.length < most) found.push({ target, openUntilMs: open ? openUntilMs : null });
    else
      skipped.push({
        provider: offer.provider.id,
        model: offer.modelId,
        why: beyond(most, open, openUntilMs),
      });
  }
  return {
    candidates: found,
    skipped,
    timeLimits: timeLimitsOf(rules.policy, input.ask),
    failure: found.length === 0 ? noTarget(input, rules, refused).failure : null,
  };
}

function beyond(most: number, open: boolean, openUntilMs: number): string {
  const aside = open ? `set aside by the breaker until ${new Date(openUntilMs).toISOString()}, so ` : '';
  return `${aside}after the ${most === 1 ? 'one attempt' : `${most} attempts`} that a call may make`;
}
