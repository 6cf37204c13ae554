import type { Policy } from '#lib/core/facts/snapshot';
import { parseUsd } from '#lib/core/money';

/** Most attempts of a call, whatever a policy says (contract: routing/plan). */
const MOST_ATTEMPTS = 4;

/** A policy made ready for planning: sets and numbers instead of lists and strings. */
export interface Rules {
  readonly policy: Policy;
  readonly sort: 'order' | 'price' | 'latency' | 'throughput';
  readonly order: readonly string[];
  /** null: every provider. */
  readonly only: ReadonlySet<string> | null;
  readonly ignore: ReadonlySet<string> | null;
  /** null: no draw. */
  readonly weights: ReadonlyMap<string, number> | null;
  readonly fallbackModels: readonly string[];
  readonly translate: 'never' | 'fallback' | 'allow';
  /** Nano-dollars per million tokens; infinite without a bound. */
  readonly maxInputNano: number;
  readonly maxOutputNano: number;
  readonly maxAttempts: number;
  /** Nano-dollars; null: no bound. */
  readonly maxBatchHoldNano: bigint | null;
}

/**
 * The policy of one model: the model's own keys replace those of the workspace's default, each as a
 * whole (an own `timeouts` replaces all of the default's; an empty list lifts the default's list).
 */
export function mergePolicy(standard: Policy | undefined, own: Policy | undefined): Policy {
  if (!own) return standard ?? none;
  return standard ? { ...standard, ...own } : own;
}

const none: Policy = {};
const free = compile(none);
/** A snapshot's policies never change in place, so what was made of them lives as long as they do. */
const made = new WeakMap<ReadonlyMap<string, Policy>, Map<string, Rules>>();

/**
 * The rules for a model under a workspace's policies ("" is the default one). Kept per snapshot, so that
 * a call pays a look-up only.
 */
export function rulesFor(policies: ReadonlyMap<string, Policy>, model: string): Rules {
  if (policies.size === 0) return free;
  let known = made.get(policies);
  if (!known) {
    known = new Map();
    made.set(policies, known);
  }
  const name = policies.has(model) ? model : '';
  const rules = known.get(name);
  if (rules) return rules;
  const fresh = compile(mergePolicy(policies.get(''), name === '' ? undefined : policies.get(name)));
  known.set(name, fresh);
  return fresh;
}

function compile(policy: Policy): Rules {
  const { maxPrice } = policy;
  const drawn = Object.entries(policy.weights ?? {});
  return {
    policy,
    sort: policy.sort ?? 'order',
    order: policy.order ?? [],
    only: policy.only?.length ? new Set(policy.only) : null,
    ignore: policy.ignore?.length ? new Set(policy.ignore) : null,
    weights: drawn.length > 0 ? new Map(drawn) : null,
    fallbackModels: policy.fallbackModels ?? [],
    translate: policy.translate ?? 'allow',
    maxInputNano: maxPrice?.input === undefined ? Number.POSITIVE_INFINITY : Number(parseUsd(maxPrice.input)),
    maxOutputNano:
      maxPrice?.output === undefined ? Number.POSITIVE_INFINITY : Number(parseUsd(maxPrice.output)),
    maxAttempts: Math.min(policy.maxAttempts ?? MOST_ATTEMPTS, MOST_ATTEMPTS),
    maxBatchHoldNano: policy.maxBatchHold === undefined ? null : parseUsd(policy.maxBatchHold),
  };
}
