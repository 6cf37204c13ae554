import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  addChains,
  findUnlogged,
  givePolicy,
  type Link,
  placeIn,
  refused,
} from '#tests/gateway/routing/chains';
import { unrepeated } from '#tests/support/attempts';
import { closeBalanced, costOf, fairNano, linesOf } from '#tests/support/books';
import { type Asked, askChat, bearer, codeOf } from '#tests/support/chat-call';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

/** What a provider does to an attempt, and how the call log shows it. */
interface Fault {
  readonly link: Link;
  readonly status: number | null;
  readonly error?: string;
}

const faults: Readonly<Record<string, Fault>> = {
  refused: { link: refused, status: null, error: 'connection_refused' },
  'late-first-byte': { link: 'fault/stall', status: null, error: 'first_byte_timeout' },
  '429': { link: 'fault/status-429', status: 429 },
  '429-retry-after': { link: 'fault/status-429?retry_after=30', status: 429 },
  '500': { link: 'fault/status-500', status: 500 },
  '503': { link: 'fault/status-503', status: 503 },
  '529': { link: 'fault/status-529', status: 529 },
  '401': { link: 'fault/status-401', status: 401 },
  '404': { link: 'fault/status-404', status: 404 },
  'invalid-key-400': { link: 'fault/invalid-key-400', status: 400 },
  closed: { link: 'fault/close-before-headers', status: null, error: 'connection_closed' },
  reset: { link: 'fault/reset', status: null, error: 'connection_reset' },
  'html-200': { link: 'fault/garbage', status: null, error: 'unreadable_answer' },
};
const names = Object.keys(faults);
const lengths = [1, 2, 4] as const;
/** Statuses that tell of the client's own fault. */
const ownFaults = [400, 409, 413, 422] as const;
const kinds = [
  ['a stream', 'stream', { stream: true }],
  ['a whole answer', 'whole', {}],
] as const;

let stack: Stack;
let key = '';
let workspaceId = '';

beforeAll(async () => {
  stack = await joinStack();
  const workspace = await stack.workspace({ rpm: null, tpm: null, concurrency: null });
  workspaceId = workspace.id;
  ({ key } = await stack.key(workspace.slug));
  const chains: Record<string, readonly Link[]> = {};
  for (const [name, { link }] of Object.entries(faults)) {
    // Models of their own for streams and whole answers: a Retry-After would outlast the first.
    for (const [, kind] of kinds) {
      for (const length of lengths) {
        const failing = Array.from({ length: Math.max(1, length - 1) }, () => link);
        chains[`${name}/${length}/${kind}`] = length === 1 ? failing : [...failing, 'echo'];
      }
      chains[`${name}/mixed/${kind}`] = ['fault/status-500', link];
    }
  }
  for (const status of ownFaults) chains[`own-fault/${status}`] = [`fault/status-${status}`, 'echo'];
  for (const length of lengths) {
    chains[`cut/${length}`] = ['fault/cut@3', ...Array.from({ length: length - 1 }, () => 'echo')];
  }
  await addChains(stack, chains);
  // Long enough for a healthy provider on a busy machine.
  const timeouts = { firstByteMs: 3_000, firstByteWholeMs: 3_000 };
  for (const model of Object.keys(chains).filter((name) => name.startsWith('late-first-byte/')))
    await givePolicy(stack, workspace.slug, { timeouts }, model);
});
afterAll(async () => {
  await closeBalanced(stack);
});

async function callOf(asked: Asked) {
  const call = await stack.call(asked.id);
  expect(await findUnlogged(stack, asked, call)).toEqual([]);
  return call;
}

describe.concurrent.each(kinds)('%s', (_, kind, fields) => {
  describe.each(names)('behind a provider with %s', (name) => {
    const { status, error = null } = faults[name] ?? { status: null };

    it.each([2, 4] as const)(
      'is answered by the healthy last one of %i, and charged for it alone',
      async (length) => {
        const asked = await askChat(stack.url, key, { model: `${name}/${length}/${kind}`, ...fields });
        expect(asked.answer).toMatchObject({ status: 200, whole: true });
        const last = length === 2 ? 'second' : 'fourth';
        expect(placeIn(headerOf(asked.answer, 'x-answered-provider'))).toBe(last);

        const call = await callOf(asked);
        expect(placeIn(call.provider)).toBe(last);
        expect(headerOf(asked.answer, 'x-attempts')).toBe(String(call.attempts.length));
        const attempts = unrepeated(call);
        expect(attempts.map((one) => one.status)).toEqual([
          ...Array.from({ length: length - 1 }, () => status),
          200,
        ]);
        for (const failed of attempts.slice(0, -1)) {
          expect(failed).toMatchObject({ error, possibleDuplicate: error === 'first_byte_timeout' });
        }
        const answering = call.attempts.at(-1)?.upstreamRequestId ?? '';
        expect(headerOf(asked.answer, 'x-upstream-request-id')).toBe(answering);
        const fair = fairNano(await stack.sandbox.ended(answering));
        expect(fair).toBeGreaterThan(0n);
        expect(costOf(call)).toBe(fair);
        expect(await linesOf(stack, call.id)).toEqual([-fair]);
      },
    );

    it('without another target, the client gets the provider’s error, or 502 if it sent none', async () => {
      const asked = await askChat(stack.url, key, { model: `${name}/1/${kind}`, ...fields });
      expect(asked.answer.status).toBe(status ?? 502);
      if (status === null) expect(codeOf(asked.answer)).toBe('upstream_request_failed');
      const call = await callOf(asked);
      expect(call).toMatchObject({ cost: '0', status: status ?? 502 });
      expect(unrepeated(call)).toMatchObject([{ status, error }]);
      expect(await linesOf(stack, call.id)).toEqual([]);
    });

    it('after a 500 gets the last answer that there was', async () => {
      const asked = await askChat(stack.url, key, { model: `${name}/mixed/${kind}`, ...fields });
      expect(asked.answer.status).toBe(status ?? 500);
      const call = await callOf(asked);
      expect(unrepeated(call).map((one) => one.status)).toEqual([500, status]);
      expect(placeIn(call.provider)).toBe(status === null ? 'first' : 'second');
      const answering = call.attempts[status === null ? 0 : 1]?.upstreamRequestId ?? '';
      expect(headerOf(asked.answer, 'x-upstream-request-id')).toBe(answering);
      const sent = Buffer.from((await stack.sandbox.ended(answering)).sent ?? '', 'base64');
      expect(asked.answer.body.equals(sent)).toBe(true);
    });
  });
});

describe('a stream that breaks after its first byte (contract: routing/not-after-first-byte, routing/broken-stream)', () => {
  it.each(lengths)('never falls back, with %i offers', async (length) => {
    const asked = await askChat(stack.url, key, { model: `cut/${length}`, stream: true });
    expect(asked.answer.status).toBe(200);
    expect(asked.answer.body.toString()).toContain('"code":"upstream_request_failed"');
    const call = await callOf(asked);
    expect(call.attempts).toHaveLength(1);
    expect(call).toMatchObject({ endReason: 'upstream_error', usageSource: 'estimated' });
    expect(placeIn(call.provider)).toBe('first');
    expect(await linesOf(stack, call.id)).toEqual([-costOf(call)]);
  });
});

describe('an answer that is the client’s own fault', () => {
  it.each(ownFaults)('%i passes at the first attempt, its body byte for byte', async (status) => {
    const model = `own-fault/${status}`;
    for (const [, , fields] of kinds) {
      const asked = await askChat(stack.url, key, { model, ...fields });
      expect(asked.answer.status).toBe(status);
      expect(headerOf(asked.answer, 'x-attempts')).toBe('1');
      expect(headerOf(asked.answer, 'content-type')).toBe('application/json');
      expect(headerOf(asked.answer, 'x-echo-authorization')).toBeUndefined();
      const call = await callOf(asked);
      expect(call).toMatchObject({ status, cost: '0', attempts: [{ status, error: null }] });
      const answering = call.attempts[0]?.upstreamRequestId ?? '';
      const sent = Buffer.from((await stack.sandbox.ended(answering)).sent ?? '', 'base64');
      expect(asked.answer.body.equals(sent)).toBe(true);
    }
  });
});

describe('a client that sends X-No-Fallback: true (contract: routing/no-fallback)', () => {
  it.each(['500', 'refused'])('gets what the first target gives: %s', async (name) => {
    const fault = faults[name];
    const headers = { ...bearer(key), 'X-No-Fallback': 'true' };
    const asked = await askChat(stack.url, key, { model: `${name}/2/whole` }, { headers });
    expect(asked.answer.status).toBe(fault?.status ?? 502);
    const call = await callOf(asked);
    expect(call.attempts).toHaveLength(1);
    const seen = await stack.sandbox.seen(asked.mark);
    expect(seen.every((line) => !('x-no-fallback' in line.headers))).toBe(true);
  });

  it('but any other value leaves fallback on', async () => {
    const headers = { ...bearer(key), 'X-No-Fallback': 'false' };
    const asked = await askChat(stack.url, key, { model: '500/2/whole' }, { headers });
    expect(asked.answer.status).toBe(200);
  });
});

it('a call that fell back is charged once in the whole ledger of its workspace', async () => {
  const { rows } = await stack.db.pool.query<{ calls: number; lines: number }>(
    `SELECT (SELECT count(*)::int FROM call WHERE workspace_id = $1 AND cost_nano > 0) AS calls,
      (SELECT sum(calls)::int FROM ledger_line WHERE workspace_id = $1 AND kind = 'usage') AS lines`,
    [workspaceId],
  );
  expect(rows[0]?.lines).toBe(rows[0]?.calls);
});
