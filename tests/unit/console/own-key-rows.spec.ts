import { describe, expect, it } from 'vitest';
import { callRowOf, costRowsOf, figuresOf } from '#lib/console/show/call-rows';
import { ownKeyRowOf, ownKeyTerms } from '#lib/console/team/own-key-rows';
import { totalsOf } from '#lib/console/usage/totals';
import type { CallDetail } from '#lib/control/operations/call/detail';
import type { ShownOwnKey } from '#lib/control/operations/own-key/fields';
import { figuresOf as usageFiguresOf } from '#lib/control/operations/usage/figures';
import { noSums } from '#lib/control/operations/usage/sums';
import { noUsage } from '#lib/core/metering/usage';

const nowMs = Date.UTC(2026, 10, 27, 12);
const key: ShownOwnKey = {
  id: 'k',
  name: 'ours',
  provider: 'openai',
  use: 'first',
  models: null,
  address: null,
  state: 'in use',
  testedAt: '2026-11-27T11:58:00.000Z',
  failure: null,
  createdAt: '2026-11-27T11:00:00.000Z',
};
const providers = [{ id: 'openai', name: 'OpenAI', models: ['openai/gpt'] }];
const rowOf = (changed: Partial<ShownOwnKey>) =>
  ownKeyRowOf({ ...key, ...changed }, { providers, timeZone: 'UTC', nowMs });

describe('the row of an own key (contract: own-keys/pages)', () => {
  it.each([
    [{}, 'Works', 'tested 2 min ago'],
    [{ state: 'not tested', testedAt: null }, 'Not tested', null],
    [
      { state: 'not tested', failure: 'The provider answered 401: no' },
      'Fails',
      'The provider answered 401: no.',
    ],
    [
      { failure: 'No answer: timeout' },
      'Fails',
      'No answer: timeout. Calls still use the key that last passed its test.',
    ],
    [{ state: 'not allowed', failure: 'no' }, 'Not used', 'The operator does not allow it now.'],
  ] as const)('%j is "%s"', (changed, text, note) => {
    expect(rowOf(changed).state).toMatchObject({ text, note });
  });

  it('has the name of the provider and its models, and the id of one without offers', () => {
    expect(rowOf({})).toMatchObject({ provider: 'OpenAI', offered: ['openai/gpt'] });
    expect(rowOf({ provider: 'gone' })).toMatchObject({ provider: 'gone', offered: [] });
  });

  it('comes with the terms of the operator’s fee', () => {
    const [free, priced] = ['0', '7.25'].map((fee) => JSON.stringify(ownKeyTerms(fee)));
    expect(free).toContain('cost nothing');
    expect(free).toContain('positive funds, although the fee is 0');
    expect(priced).toContain('7.25% of the list price');
    expect(priced).toContain('holds the fee');
  });
});

const call: CallDetail = {
  id: 'c',
  clientRequestId: null,
  at: '2026-11-27T11:00:00.000Z',
  settledAt: '2026-11-27T11:00:01.000Z',
  workspace: 'acme',
  key: 'k',
  keyName: 'web',
  playground: false,
  family: 'chat',
  operation: 'chat.create',
  requestedModel: 'a/b',
  answeringModel: 'a/b',
  provider: 'one',
  status: 200,
  errorCode: null,
  streamed: false,
  latencyMs: 12,
  firstByteMs: 9,
  overheadMs: 0.5,
  endReason: 'completed',
  usageSource: 'reported',
  cost: '0.1',
  overHold: '0',
  flags: ['own_key'],
  priceVersion: null,
  priceSince: null,
  userAgent: null,
  contentUntil: null,
  feedback: null,
  endUser: null,
  tags: {},
  usage: { ...noUsage, input: 1_000_000 },
  lines: [
    { class: 'input', quantity: 1_000_000, unitPrice: '2', cost: '2' },
    { class: 'ownKeyFee', quantity: 2_000_000_000, unitPrice: '0.00005', cost: '0.1' },
  ],
  attempts: [],
  job: null,
  adjustment: null,
};

describe('a call by an own key (contract: own-keys/pages)', () => {
  const place = { workspace: 'acme', timeZone: 'UTC', nowMs };
  it('is marked in the log, as is one that was to be answered by it', () => {
    expect(callRowOf(call, place).ownKey).toBe('answered');
    expect(callRowOf({ ...call, flags: ['own_key_fallback'] }, place).ownKey).toBe('fallback');
    expect(callRowOf({ ...call, flags: [] }, place).ownKey).toBeNull();
  });

  it('has its list price before the fee, and beside its cost', () => {
    expect(costRowsOf(call).map(({ name, cost }) => [name, cost])).toEqual([
      ['Input', '$2.00'],
      ['List price, not charged', '$2.00'],
      ['Own key: only this fee is charged', '$0.10'],
    ]);
    expect(costRowsOf(call).at(-1)?.amount).toEqual({ quantity: '$2.00', unitPrice: '5% of list price' });
    expect(figuresOf(call)[0]?.note).toBe('own key, list price $2.00');
    const other = { ...call, lines: call.lines.slice(0, 1) };
    expect(costRowsOf(other)).toHaveLength(1);
    expect(figuresOf(other)[0]?.note).toBeUndefined();
  });

  it('is in the usage at list price, beside the spend', () => {
    const before = usageFiguresOf(noSums());
    const total = { ...before, cost: '0.1', ownKeyListPrice: '2' };
    const noteOf = (one: typeof before) =>
      totalsOf({ total: one, before: { total: before } as never }, ['spend'])[0]?.note;
    expect(noteOf(total)).toBe('own keys: $2.00 at list price');
    expect(noteOf(before)).toBeNull();
  });
});
