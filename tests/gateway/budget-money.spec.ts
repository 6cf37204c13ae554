import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '#lib/core/errors';
import { formatUsd, parseUsd } from '#lib/core/money';
import { ask, askChat, bearer, codeOf, jsonOf } from '#tests/support/chat-call';
import { addCredit, findCall, restoreKey, setKey } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { type InProcess, startInProcess } from '#tests/support/in-process';
import { expectRefusal } from '#tests/support/refusals';
import type { Wire } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';

const minute = 60;
const hour = 3600;
const messageOf = (answer: Wire) => String(record(jsonOf(answer).error).message);

describe('what may be spent (contract: money/crossing-call, money/caps)', () => {
  let gateway: InProcess;
  beforeAll(async () => {
    gateway = await startInProcess();
  });
  afterAll(() => gateway.close());

  const chat = (key: string, fields: Record<string, unknown> = {}) =>
    askChat(gateway.url, key, { max_tokens: 20, ...fields });

  /** The charge of a call, as soon as it is in the log. */
  async function costOf(id: string): Promise<bigint> {
    await eventually(async () => (await findCall(gateway.db, id)) !== null, true);
    const found = await findCall(gateway.db, id);
    return parseUsd(found?.cost ?? '0');
  }

  it('a daily cap ends at midnight of the workspace, and the refusal says when', async () => {
    const { key } = await gateway.key({ dailyCap: '0.000001' }, { timeZone: 'Asia/Kathmandu' });
    expect((await chat(key)).answer.status).toBe(200);
    const refused = await chat(key);
    expectRefusal(refused.answer, 'day_limit_reached', key);
    const said = /resets at (\S+),/.exec(messageOf(refused.answer))?.[1] ?? '';
    const midnight = new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Asia/Kathmandu',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    }).format(new Date(said));
    expect(midnight).toMatch(/^(00|24):00:00$/);
    const leftSeconds = (Date.parse(said) - gateway.now()) / 1000;
    expect(leftSeconds).toBeGreaterThan(0);
    expect(leftSeconds).toBeLessThanOrEqual(24 * hour);
    if (leftSeconds > 2 * minute) {
      gateway.pass(leftSeconds - minute);
      expect(codeOf((await chat(key)).answer)).toBe('day_limit_reached');
    }
    gateway.pass(2 * minute);
    expect((await chat(key)).answer.status).toBe(200);
    expect(codeOf((await chat(key)).answer)).toBe('day_limit_reached');
  });

  it.each<[ErrorCode, Parameters<InProcess['key']>[0], number]>([
    ['d7_limit_reached', { d7Cap: '0.000001' }, 168],
    ['d30_limit_reached', { d30Cap: '0.000001' }, 720],
  ])('%s: spend leaves the window after its hours, to the minute', async (code, settings, hours) => {
    const { key } = await gateway.key(settings);
    const first = await chat(key);
    expect(first.answer.status).toBe(200);
    await costOf(first.id);
    const refused = await chat(key);
    expectRefusal(refused.answer, code, key);
    const said = /from (\S+) on/.exec(messageOf(refused.answer))?.[1] ?? '';
    const leftSeconds = (Date.parse(said) - gateway.now()) / 1000;
    expect(Math.abs(leftSeconds - hours * hour)).toBeLessThan(2 * minute);
    gateway.pass(leftSeconds - 2 * minute);
    expect(codeOf((await chat(key)).answer)).toBe(code);
    gateway.pass(3 * minute);
    expect((await chat(key)).answer.status).toBe(200);
  });

  it('a cap that is not reached admits whatever the hold', async () => {
    const { key } = await gateway.key({ dailyCap: '0.001', d7Cap: '0.001', d30Cap: '0.001', quota: '0.001' });
    const asked = await chat(key, { max_tokens: 60_000 });
    expect(asked.answer.status).toBe(200);
  });

  it('of several caps that are reached the day comes first, then 7 days, then 30', async () => {
    const tiny = '0.000001';
    const { key, id } = await gateway.key({ dailyCap: tiny, d7Cap: tiny, d30Cap: tiny });
    const first = await chat(key);
    await costOf(first.id);
    expect(codeOf((await chat(key)).answer)).toBe('day_limit_reached');
    await setKey(gateway.db, { id, dailyCap: null });
    await eventually(async () => codeOf((await chat(key)).answer), 'd7_limit_reached');
    await setKey(gateway.db, { id, d7Cap: null });
    await eventually(async () => codeOf((await chat(key)).answer), 'd30_limit_reached');
  });

  it('a quota used up sets the flag for good; raising it or hand clears it', async () => {
    const { key, id } = await gateway.key({ quota: '0.000001' });
    await costOf((await chat(key)).id);
    expectRefusal((await chat(key)).answer, 'quota_exceeded', key);
    gateway.pass(40 * 24 * hour);
    // The flag stands before the body is read: what costs nothing is refused as well.
    const listed = await ask(gateway.url, 'GET', '/v1/models', bearer(key));
    expectRefusal(listed, 'quota_exceeded', key);
    await setKey(gateway.db, { id, quota: '1' });
    await eventually(async () => (await chat(key)).answer.status, 200);
    await setKey(gateway.db, { id, quota: '0.000001' });
    await eventually(async () => codeOf((await chat(key)).answer), 'quota_exceeded');
    await restoreKey(gateway.db, { id });
    await setKey(gateway.db, { id, quota: null });
    await eventually(async () => (await chat(key)).answer.status, 200);
  });

  it('the last money is spent to the crossing call, and not beyond it', async () => {
    const { key, workspace } = await gateway.key({}, { credit: '0' });
    const probe = await gateway.key();
    const price = await costOf((await chat(probe.key)).id);
    // Room for two and a half calls of that size.
    await addCredit(gateway.db, { workspace, amount: formatUsd((price * 5n) / 2n), reason: 'test' });
    await eventually(async () => (await chat(key)).answer.status, 200);
    let admitted = 1;
    let last = await chat(key);
    for (; last.answer.status === 200 && admitted < 10; last = await chat(key)) admitted += 1;
    expectRefusal(last.answer, 'insufficient_balance', key);
    expect(admitted).toBe(3);
    const { rows } = await gateway.db.pool.query<{ balance: string }>(
      'SELECT balance_nano::text AS balance FROM workspace WHERE slug = $1',
      [workspace],
    );
    expect(BigInt(rows[0]?.balance ?? 0)).toBeLessThanOrEqual(0n);
    expect(BigInt(rows[0]?.balance ?? 0)).toBeGreaterThan(-price);
  });

  it('holds larger than the balance follow each other at once: what has ended holds nothing', async () => {
    const { key } = await gateway.key({}, { credit: '0.01' });
    for (let n = 0; n < 8; n += 1) {
      const asked = await askChat(gateway.url, key, {});
      expect(asked.answer.status, `call ${n}: ${asked.answer.body}`).toBe(200);
    }
    // An answer that costs nothing gives its hold back as well.
    for (let n = 0; n < 8; n += 1) {
      const asked = await askChat(gateway.url, key, { directive: 'fault/status-400' });
      expect(asked.answer.status, `call ${n}: ${asked.answer.body}`).toBe(400);
    }
    const capped = await gateway.key({ dailyCap: '0.01', d7Cap: '0.01', quota: '0.01' });
    for (let n = 0; n < 8; n += 1) {
      const asked = await askChat(gateway.url, capped.key, n % 2 ? { directive: 'fault/status-400' } : {});
      expect(asked.answer.status, `call ${n}: ${asked.answer.body}`).toBe(n % 2 ? 400 : 200);
    }
  });

  it('holds of ended calls do not add up in a lease: sixty of them would be more than the funds', async () => {
    const { key } = await gateway.key({ dailyCap: '9' }, { credit: '10' });
    for (let n = 0; n < 60; n += 1) {
      const asked = await askChat(gateway.url, key, n % 2 ? { directive: 'fault/status-400' } : {});
      expect(asked.answer.status, `call ${n}: ${asked.answer.body}`).toBe(n % 2 ? 400 : 200);
    }
    await eventually(() => gateway.heldNano(), 0n);
  });

  it('a workspace without funds still reads its models', async () => {
    const { key } = await gateway.key({}, { credit: '0' });
    expect((await ask(gateway.url, 'GET', '/v1/models', bearer(key))).status).toBe(200);
  });
});
