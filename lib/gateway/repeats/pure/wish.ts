import { type Refusal, refusal } from '#lib/core/errors';
import type { RepeatRule } from '#lib/core/facts/snapshot';

/** The longest that the cache keeps an answer, seconds: 30 days (contract: repeats/cache). */
export const longestCacheSeconds = 2_592_000;
/** How long an answer is repeated for its `Idempotency-Key`, seconds (contract: repeats/idempotency). */
export const repeatSeconds = 86_400;

/** Why the answer of a call may be one that is kept. */
export type Wish =
  | { readonly kind: 'repeat'; readonly token: string }
  /** @param seconds how old the answer may be, and how long a new one is kept. */
  | { readonly kind: 'cache'; readonly seconds: number };

/** What of a request says whether it may be answered with a kept answer. */
interface AskedRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Whether the same request may be given the same answer by the cache (contract: repeats/cacheable). */
  readonly cacheable: boolean;
}

/**
 * What a request wants of kept answers; an `Idempotency-Key` goes before the cache.
 * @returns null: nothing. A refusal (`invalid_body`) names the header that cannot be read.
 */
export function wishOf(rule: RepeatRule, { headers, cacheable }: AskedRequest): Wish | Refusal | null {
  const token = headers['idempotency-key'];
  if (rule.idempotency && token !== undefined) {
    if (/^[\x21-\x7e]{1,255}$/.test(token)) return { kind: 'repeat', token };
    return refusal(
      'invalid_body',
      'The header Idempotency-Key must have 1 to 255 printable ASCII characters without spaces.',
    );
  }
  if (rule.cache === null) return null;
  const asked = headers['x-gateway-cache']?.trim().toLowerCase();
  if (asked === undefined) {
    return rule.cache === 'all' && cacheable ? { kind: 'cache', seconds: rule.cacheSeconds } : null;
  }
  if (asked === 'off') return null;
  const seconds = /^\d{1,7}$/.test(asked) ? Number(asked) : 0;
  if (seconds < 1 || seconds > longestCacheSeconds) {
    return refusal(
      'invalid_body',
      `The header X-Gateway-Cache must be a number of seconds from 1 to ${longestCacheSeconds}, or "off".`,
    );
  }
  return cacheable ? { kind: 'cache', seconds } : null;
}
