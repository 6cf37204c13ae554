import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRefusal, type Refusal } from '#lib/core/errors';
import type { Caps, KeySnapshot } from '#lib/core/facts/snapshot';
import type { Claim } from '#lib/gateway/admission/claim';
import {
  makeKey,
  makeWorkspace,
  type Node,
  requestOf,
  snapshotOf,
  startNode,
} from '#tests/support/admission';
import { createDatabase, type TestDatabase } from '#tests/support/database';

const HOLD = 1_000_000n;
const RICH = 1_000_000n * HOLD;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
let database: TestDatabase;
/** The gateway's wall clock, so that a day of any zone can be visited. */
let nowMs = Date.UTC(2026, 5, 15, 12);
let node: Node;

beforeAll(async () => {
  database = await createDatabase();
  node = await startNode(database.url, { clock: { now: () => nowMs, mono: () => performance.now() } });
});

afterAll(async () => {
  await node.stop();
  await database.drop();
});

function claimed(answer: Claim | Refusal): Claim {
  if (isRefusal(answer)) throw new Error(`refused: ${answer.code}: ${answer.message}`);
  return answer;
}

async function spend(keyId: string, atMs: number, nano: bigint): Promise<void> {
  await node.db.pool.query(
    `INSERT INTO spend_minute (key_id, minute, spent_nano) VALUES ($1, date_trunc('minute', $2::timestamptz), $3)`,
    [keyId, new Date(atMs).toISOString(), `${nano}`],
  );
}

async function claimAt(snapshot: KeySnapshot, atMs: number): Promise<Claim | Refusal> {
  nowMs = atMs;
  return node.coordinator.claim(requestOf(snapshot, HOLD, { atMs }));
}

/** Whether a key whose cap of 1 hold was spent at `spentMs` is refused at `atMs`. */
async function refusedAt(caps: Partial<Caps>, timeZone: string, spentMs: number, atMs: number) {
  const snapshot = await makeWorkspace(node.db, { balanceNano: RICH, caps, timeZone });
  await spend(snapshot.key.id, spentMs, HOLD);
  const answer = await claimAt(snapshot, atMs);
  return isRefusal(answer) ? answer : null;
}

describe('the daily cap (contract: money/daily-cap)', () => {
  it.each([
    ['UTC', '2026-06-15T00:00:00Z', '2026-06-16T00:00:00Z'],
    ['Asia/Kathmandu', '2026-06-14T18:15:00Z', '2026-06-15T18:15:00Z'],
    // 23 hours: clocks go forward on 8 March.
    ['America/New_York', '2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z'],
    // 25 hours: clocks go back on 25 October.
    ['Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
    // Midnight does not exist: 00:00 becomes 01:00 on 24 April.
    ['Africa/Cairo', '2026-04-23T22:00:00Z', '2026-04-24T21:00:00Z'],
    // Midnight comes twice: 01:00 becomes 00:00 on 1 November.
    ['America/Havana', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z'],
  ])('lasts from midnight to midnight in %s', async (zone, start, end) => {
    const caps = { dayNano: HOLD };
    const [startMs, endMs] = [Date.parse(start), Date.parse(end)];
    const refused = await refusedAt(caps, zone, startMs, endMs - 1);
    expect(refused).toMatchObject({ code: 'day_limit_reached' });
    expect(refused?.message).toContain(new Date(endMs).toISOString().replace('.000', ''));
    expect(refused?.shouldRetry).toBeUndefined();
    expect(await refusedAt(caps, zone, startMs, endMs)).toBeNull();
    expect(await refusedAt(caps, zone, startMs - MINUTE, startMs)).toBeNull();
    expect(await refusedAt(caps, zone, startMs, startMs + MINUTE)).not.toBeNull();
  });

  it('counts a hold on the day of its admission', async () => {
    const hold = async (caps: Partial<Caps>) => {
      const { key, workspace, ...rest } = await makeWorkspace(node.db, { balanceNano: RICH, caps });
      await node.db.pool.query(
        'INSERT INTO hold (call_id, workspace_id, key_id, amount_nano, admitted_at) VALUES (gen_random_uuid(), $1, $2, $3, $4)',
        [workspace.id, key.id, `${HOLD}`, '2026-06-14T23:59:59Z'],
      );
      return claimAt({ key, workspace, ...rest }, Date.UTC(2026, 5, 15, 0, 0, 1));
    };
    claimed(await hold({ dayNano: HOLD }));
    expect(await hold({ d7Nano: HOLD })).toMatchObject({ code: 'd7_limit_reached', shouldRetry: true });
  });

  it('admits the call that crosses it, and not the next', async () => {
    const snapshot = await makeWorkspace(node.db, { balanceNano: RICH, caps: { dayNano: 3n * HOLD - 1n } });
    const at = Date.UTC(2026, 5, 15, 12);
    const answers = await Promise.all(Array.from({ length: 30 }, () => claimAt(snapshot, at)));
    expect(answers.filter((answer) => !isRefusal(answer))).toHaveLength(3);
    expect(answers.find(isRefusal)).toMatchObject({ code: 'day_limit_reached', shouldRetry: true });
  });
});

describe('the sliding caps (contract: money/sliding-caps)', () => {
  const at = Date.UTC(2026, 5, 15, 12, 30, 20);
  it.each([
    [168, 'd7_limit_reached', 'd7Nano'],
    [720, 'd30_limit_reached', 'd30Nano'],
  ] as const)('last %i hours to the minute: %s', async (hours, code, cap) => {
    const caps = { [cap]: HOLD };
    expect(await refusedAt(caps, 'Europe/Berlin', at - hours * HOUR, at)).toMatchObject({ code });
    expect(await refusedAt(caps, 'Europe/Berlin', at - hours * HOUR - 2 * MINUTE, at)).toBeNull();
    expect(await refusedAt(caps, 'Europe/Berlin', at - MINUTE, at)).toMatchObject({ code });
  });

  it('say when enough spend will have left the window', async () => {
    const snapshot = await makeWorkspace(node.db, { balanceNano: RICH, caps: { d7Nano: 10n * HOLD } });
    const { id } = snapshot.key;
    await spend(id, at - 100 * HOUR, 3n * HOLD);
    await spend(id, at - 50 * HOUR, 4n * HOLD);
    await spend(id, at - 10 * HOUR, 6n * HOLD);
    const refused = await claimAt(snapshot, at);
    const frees = new Date(Date.UTC(2026, 5, 15, 12, 31) - 50 * HOUR + 168 * HOUR);
    expect(refused).toMatchObject({ code: 'd7_limit_reached' });
    expect(isRefusal(refused) && refused.message).toContain(frees.toISOString().replace('.000', ''));
  });
});

describe('the quota (contract: money/quota)', () => {
  it('is the fourth cap, over all spend of the key, and does not reset', async () => {
    const snapshot = await makeWorkspace(node.db, { balanceNano: RICH, caps: { quotaNano: 5n * HOLD } });
    const spent = (nano: bigint) =>
      node.db.pool.query('UPDATE api_key SET spent_nano = $2 WHERE id = $1', [snapshot.key.id, `${nano}`]);
    await spent(5n * HOLD - 1n);
    claimed(await claimAt(snapshot, nowMs));
    expect(await claimAt(snapshot, nowMs)).toMatchObject({ code: 'quota_exceeded', shouldRetry: true });
    await spent(5n * HOLD);
    expect(await claimAt(snapshot, nowMs)).toMatchObject({ code: 'quota_exceeded' });
  });
});

describe('the order of money checks', () => {
  it('is funds, day, 7 days, 30 days, quota', async () => {
    const caps = { dayNano: HOLD, d7Nano: HOLD, d30Nano: HOLD, quotaNano: HOLD };
    const refusedWith = async (part: Partial<Caps>, balanceNano: bigint) => {
      const snapshot = await makeWorkspace(node.db, { balanceNano, caps: part });
      await spend(snapshot.key.id, nowMs, HOLD);
      await node.db.pool.query('UPDATE api_key SET spent_nano = $2 WHERE id = $1', [
        snapshot.key.id,
        `${HOLD}`,
      ]);
      const answer = await claimAt(snapshot, nowMs);
      return isRefusal(answer) ? answer.code : null;
    };
    expect(await refusedWith(caps, 0n)).toBe('insufficient_balance');
    expect(await refusedWith(caps, RICH)).toBe('day_limit_reached');
    expect(await refusedWith({ ...caps, dayNano: null }, RICH)).toBe('d7_limit_reached');
    expect(await refusedWith({ d30Nano: HOLD, quotaNano: HOLD }, RICH)).toBe('d30_limit_reached');
    expect(await refusedWith({ quotaNano: HOLD }, RICH)).toBe('quota_exceeded');
  });

  it('names 402 before an unusable limit, and an unusable limit before 429', async () => {
    const wrong = { limits: { rpm: 0 }, timeZone: 'Mars/Olympus', caps: { dayNano: HOLD } };
    const poor = await makeWorkspace(node.db, { ...wrong, balanceNano: 0n });
    expect(await claimAt(poor, nowMs)).toMatchObject({ code: 'insufficient_balance' });
    const rich = await makeWorkspace(node.db, { ...wrong, balanceNano: RICH });
    expect(await claimAt(rich, nowMs)).toMatchObject({ code: 'rate_limit_config_invalid' });
    const zone = await makeWorkspace(node.db, { timeZone: 'Mars/Olympus', balanceNano: RICH });
    expect(await claimAt(zone, nowMs)).toMatchObject({ code: 'rate_limit_config_invalid' });
  });
});

describe('one workspace, several keys', () => {
  it('keeps a key at its cap from slowing the others', async () => {
    const capped = await makeWorkspace(node.db, { balanceNano: RICH, caps: { dayNano: HOLD } });
    const other = snapshotOf({ workspaceId: capped.workspace.id });
    await makeKey(node.db, other);
    claimed(await claimAt(capped, nowMs));
    claimed(await claimAt(other, nowMs));
    for (let n = 0; n < 5; n++) {
      expect(await claimAt(capped, nowMs)).toMatchObject({ code: 'day_limit_reached' });
      expect(node.coordinator.claim(requestOf(other, HOLD, { atMs: nowMs }))).not.toBeInstanceOf(Promise);
    }
  });

  it('respects both keys’ caps and the balance when they race for the last money', async () => {
    const first = await makeWorkspace(node.db, { balanceNano: 7n * HOLD, caps: { d7Nano: 5n * HOLD } });
    const second = snapshotOf({ workspaceId: first.workspace.id, caps: { d30Nano: 5n * HOLD } });
    await makeKey(node.db, second);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => claimAt(n % 2 ? first : second, nowMs)),
    );
    const claims = answers.filter((answer): answer is Claim => !isRefusal(answer));
    expect(claims).toHaveLength(7);
    for (const { key } of [first, second]) {
      expect(claims.filter((claim) => claim.keyId === key.id).length).toBeLessThanOrEqual(5);
    }
  });
});
