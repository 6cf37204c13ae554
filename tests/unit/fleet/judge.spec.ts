import { describe, expect, it } from 'vitest';
import type { Booked, Provided } from '#tests/support/fleet/accounts';
import type { Told } from '#tests/support/fleet/client';
import { judge } from '#tests/support/fleet/judge';
import type { EndLine } from '#tools/sandbox/truth-log';

const told: Told = { mark: 'm', status: 200, id: 'call', whole: true, text: 'data: [DONE]' };
const row: Booked = {
  id: 'call',
  mark: 'm',
  workspaceId: 'w',
  status: 200,
  errorCode: null,
  endReason: 'completed',
  costNano: 40n,
  holdNano: 90n,
  upstreamIds: ['p1'],
};
const end: EndLine = {
  seq: 2,
  event: 'end',
  id: 'p1',
  at: '',
  family: 'chat',
  model: 'echo',
  fault: null,
  stream: true,
  status: 200,
  end: 'completed',
  abortedAt: null,
  durationMs: 1,
  chunksSent: 1,
  bytesSent: 1,
  usageReported: {},
  usage: null,
} as unknown as EndLine;
const provided: Provided = { id: 'p1', end, fairNano: 40n };

const judged = (one: Told, rows: readonly Booked[], requests: readonly Provided[]) =>
  judge([one], new Map([['m', [...rows]]]), new Map([['m', [...requests]]]));

describe('the check of what clients saw against the log and the provider', () => {
  it('passes a call that was served once and charged at its price', () => {
    expect(judged(told, [row], [provided])).toMatchObject({ calls: 1, answered: 1, cut: 0 });
  });

  it.each<[string, Told, readonly Booked[], readonly Provided[]]>([
    ['charged twice', told, [row, row], [provided]],
    ['served and not in the log', told, [], [provided]],
    ['in the log under another id', told, [{ ...row, id: 'other' }], [provided]],
    ['charged below its price', told, [{ ...row, costNano: 39n }], [provided]],
    ['charged above its price', told, [{ ...row, costNano: 41n }], [provided]],
    ['charged for an answer that no provider gave', told, [{ ...row, upstreamIds: ['p2'] }], [provided]],
    [
      'charged for two answers',
      told,
      [{ ...row, upstreamIds: ['p1', 'p2'] }],
      [provided, { ...provided, id: 'p2' }],
    ],
    [
      'interrupted and charged above its hold',
      { ...told, whole: false, text: '' },
      [{ ...row, endReason: 'interrupted', costNano: 91n }],
      [provided],
    ],
    [
      'refused and charged',
      { ...told, status: 402, text: '{}' },
      [{ ...row, status: 402, errorCode: 'insufficient_user_quota', endReason: 'refused', costNano: 1n }],
      [],
    ],
    [
      'seen by the provider, cut for its client and forgotten',
      { ...told, status: 0, id: '' },
      [],
      [provided],
    ],
  ])('fails for a call that was %s', (_, one, rows, requests) => {
    expect(() => judged(one, rows, requests)).toThrow();
  });
});
