import { describe, expect, it } from 'vitest';
import type { Keeper } from '#lib/core/facts/credential';
import type { Policy } from '#lib/core/facts/snapshot';
import { planPlaced } from '#lib/gateway/routing/plan-placed';
import { makeProvider } from '#tests/unit/families/make';
import { askOf, catalogueOf, inputOf, modelOf, offerAt } from '#tests/unit/routing/make';

const url = new URL('https://provider.test/v1');

const atB = { providerId: 'b', credential: 'default' };

/** Providers by id; `off` lacks its credential. */
function placed(
  ids: readonly string[],
  {
    named = null,
    pinned = null,
    policy = {},
    off = [],
  }: { named?: string | null; pinned?: Keeper | null; policy?: Policy; off?: readonly string[] } = {},
): string {
  const models = ids.map((id) =>
    modelOf(`model-of-${id}`, [
      offerAt(id, `model-of-${id}`, {
        families: new Set(['responses']),
        provider: makeProvider({
          id,
          families: new Map([['responses', { state: 'ready', url }]]),
          stores: new Set(id.startsWith('plain') ? [] : ['conversations']),
          ...(off.includes(id) ? { credentials: [] } : {}),
        }),
      }),
    ]),
  );
  const { healthOf } = inputOf({});
  const catalogue = {
    ...catalogueOf(...models),
    providers: new Map(models.flatMap(({ offers }) => offers.map(({ provider }) => [provider.id, provider]))),
  };
  const { targets, failure } = planPlaced({
    ask: askOf(),
    family: 'responses',
    stores: 'conversations',
    named,
    pinned,
    catalogue,
    snapshot: { policies: new Map([['', policy]]) },
    healthOf,
    callId: 'call',
    nowMs: 0,
  });
  return targets[0]?.offer.provider.id ?? `${failure?.code}: ${failure?.message}`;
}

describe('the provider of a request that names no model (contract: routing/no-model)', () => {
  it.each([
    ['the only one', ['a', 'plain'], {}, 'a'],
    ['the one that the header names', ['a', 'b'], { named: 'b' }, 'b'],
    ['the first of the order', ['a', 'b', 'c'], { policy: { order: ['plain', 'c', 'b'] } }, 'c'],
    ['the header’s before the order’s', ['a', 'b'], { named: 'a', policy: { order: ['b'] } }, 'a'],
    ['the only one that is configured', ['a', 'b'], { off: ['a'] }, 'b'],
    [
      'the next of the order, if the first is not configured',
      ['a', 'b', 'c'],
      { off: ['c'], policy: { order: ['c', 'b'] } },
      'b',
    ],
    ['the only one that the policy leaves', ['a', 'b'], { policy: { ignore: ['a'] } }, 'b'],
    ['the one of only', ['a', 'b'], { policy: { only: ['a'] } }, 'a'],
    [
      'the one that stores what the body refers to',
      ['a', 'b'],
      { pinned: atB, policy: { order: ['a'] } },
      'b',
    ],
    ['that one, whatever the policy says', ['a', 'b'], { pinned: atB, policy: { ignore: ['b'] } }, 'b'],
  ])('is %s', (_name, ids, more, expected) => expect(placed(ids, more)).toBe(expected));

  it.each([
    ['several', ['a', 'b'], {}, /^invalid_body: .*\(a, b\)/],
    [
      'a header that names one that stores none',
      ['a', 'plain'],
      { named: 'plain' },
      /^invalid_body: .*"plain".*name one of: a\./,
    ],
    [
      'a header that names one that the policy leaves out',
      ['a', 'b'],
      { named: 'a', policy: { ignore: ['a'] } },
      /^invalid_body: /,
    ],
    [
      'a header that names another one',
      ['a', 'b'],
      { named: 'a', pinned: atB },
      /^invalid_body: .*what b stores/,
    ],
    ['none at all', ['plain'], {}, /^invalid_body: No provider stores/],
    ['one that is not configured', ['a'], { off: ['a'] }, /^missing_upstream_base_url: .*\(a\)/],
    [
      'a header that names one that is not configured',
      ['a', 'b'],
      { named: 'a', off: ['a'] },
      /^missing_upstream_base_url: /,
    ],
  ])('is refused for %s', (_name, ids, more, expected) => expect(placed(ids, more)).toMatch(expected));
});
