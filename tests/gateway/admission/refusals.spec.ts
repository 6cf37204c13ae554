import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRefusal, type Refusal } from '#lib/core/errors';
import type { Claim, Posted } from '#lib/gateway/admission/claim';
import {
  makeWorkspace,
  moneyOf,
  type Node,
  requestOf,
  startNode,
  stillClock,
} from '#tests/support/admission';
import { createDatabase, type TestDatabase } from '#tests/support/database';

const HOLD = 1_000_000n;
let database: TestDatabase;
let node: Node;
/** Calls that ended and wait for the drain; a flush posts them. */
const closed: Posted[] = [];

beforeAll(async () => {
  database = await createDatabase();
  node = await startNode(database.url, { flush: (self) => self.post(closed.splice(0)) });
});

afterAll(async () => {
  await node.stop();
  await database.drop();
});

function claimed(answer: Claim | Refusal): Claim {
  if (isRefusal(answer)) throw new Error(`refused: ${answer.code}: ${answer.message}`);
  return answer;
}

function end(claim: Claim, chargeNano: bigint): void {
  node.coordinator.release(claim, { atMs: Date.now(), chargeNano, tokens: null });
  const { callId, workspaceId, keyId, funding } = claim;
  closed.push({ callId, workspaceId, keyId, funding, chargeNano });
}

describe('a refused request (contract: admission/undone)', () => {
  it('changes no counter: its row is gone before it is answered, and the limits are as before', async () => {
    const snapshot = await makeWorkspace(node.db, { balanceNano: 10n * HOLD, limits: { rpm: 1, tpm: 100 } });
    const still = await startNode(database.url, { clock: stillClock() });
    const first = claimed(await still.coordinator.claim(requestOf(snapshot, HOLD, { tokens: 40 })));
    expect(first.funding).toBe('row');
    expect(first.numbers).toEqual({
      requests: { limit: 1, remaining: 0 },
      tokens: { limit: 100, remaining: 60 },
    });
    const before = await moneyOf(node.db, snapshot.workspace.id);
    for (let n = 0; n < 3; n++) {
      const refused = await still.coordinator.claim(requestOf(snapshot, HOLD, { tokens: 10 }));
      expect(refused).toMatchObject({ code: 'api_key_rpm_exceeded', retryAfterSeconds: 60 });
      expect(await moneyOf(node.db, snapshot.workspace.id)).toEqual(before);
    }
    const loose = { ...snapshot, key: { ...snapshot.key, limits: { rpm: 2, tpm: 100, concurrency: null } } };
    const next = claimed(await still.coordinator.claim(requestOf(loose, HOLD, { tokens: 60 })));
    expect(next.numbers).toMatchObject({ requests: { remaining: 0 }, tokens: { remaining: 0 } });
    for (const claim of [first, next])
      still.coordinator.release(claim, { atMs: Date.now(), chargeNano: 0n, tokens: 0 });
    await still.stop();
  });

  it('gets 402 before 429', async () => {
    const snapshot = await makeWorkspace(node.db, { balanceNano: HOLD, limits: { rpm: 1 } });
    claimed(await node.coordinator.claim(requestOf(snapshot, HOLD)));
    const answer = await node.coordinator.claim(requestOf(snapshot, HOLD));
    expect(answer).toMatchObject({ code: 'insufficient_balance' });
  });

  it('whose plan had failed is undone as if it had never been', async () => {
    const limits = { rpm: 1, tpm: 10, concurrency: 1 };
    const snapshot = await makeWorkspace(node.db, { balanceNano: 10n * HOLD, limits });
    for (let n = 0; n < 3; n++) {
      const claim = claimed(await node.coordinator.claim(requestOf(snapshot, HOLD, { tokens: 10 })));
      const outcome = { atMs: Date.now(), chargeNano: 0n, tokens: 0, undone: true };
      node.coordinator.release(claim, outcome);
      node.coordinator.release(claim, outcome);
    }
    await expect.poll(async () => (await moneyOf(node.db, snapshot.workspace.id)).rows).toBe(0n);
  });
});

describe('a 402 (contract: money/cap-message, money/refusal-asks)', () => {
  it('is not given while a closed call of this process is still to be posted', async () => {
    const snapshot = await makeWorkspace(node.db, { balanceNano: 3n * HOLD });
    for (let n = 0; n < 30; n++) {
      end(claimed(await node.coordinator.claim(requestOf(snapshot, 3n * HOLD))), HOLD / 20n);
    }
  });

  it('says if only running calls are in the way, and what to do when the money is gone', async () => {
    const snapshot = await makeWorkspace(node.db, { balanceNano: HOLD });
    const claim = claimed(await node.coordinator.claim(requestOf(snapshot, HOLD)));
    const running = await node.coordinator.claim(requestOf(snapshot, HOLD));
    expect(running).toMatchObject({ code: 'insufficient_balance', shouldRetry: true });
    end(claim, HOLD);
    const gone = await node.coordinator.claim(requestOf(snapshot, HOLD));
    expect(gone).toMatchObject({
      code: 'insufficient_balance',
      message: expect.stringContaining('add funds on the Billing page'),
    });
    expect(gone).not.toHaveProperty('shouldRetry');
    expect(gone).not.toHaveProperty('retryAfterSeconds');
  });

  it('is given to a free model too when no funds are left', async () => {
    const snapshot = await makeWorkspace(node.db, { balanceNano: 0n });
    expect(await node.coordinator.claim(requestOf(snapshot, 0n))).toMatchObject({
      code: 'insufficient_balance',
    });
    const credited = await makeWorkspace(node.db, { creditNano: 1n });
    expect(claimed(await node.coordinator.claim(requestOf(credited, 0n))).callId).toBeTruthy();
  });

  it('in a strict workspace comes already when the hold does not fit', async () => {
    const snapshot = await makeWorkspace(node.db, { balanceNano: HOLD, strict: true });
    expect(await node.coordinator.claim(requestOf(snapshot, HOLD + 1n))).toMatchObject({
      code: 'insufficient_balance',
      message: expect.stringContaining('0.001000001'),
    });
    claimed(await node.coordinator.claim(requestOf(snapshot, HOLD)));
  });
});

describe('a growing hold (contract: money/hold-grows, money/strict)', () => {
  it.each([
    ['row', 10n],
    ['lease', 100n],
  ] as const)('grows as a %s while money is there and not beyond', async (funding, holds) => {
    const snapshot = await makeWorkspace(node.db, {
      balanceNano: holds * HOLD,
      caps: { d7Nano: holds * HOLD },
    });
    const claim = claimed(await node.coordinator.claim(requestOf(snapshot, HOLD)));
    expect(claim.funding).toBe(funding);
    const grown = await node.coordinator.grow(claim, (holds - 1n) * HOLD);
    expect(grown).toBe(true);
    const { free, rows, leased } = await moneyOf(node.db, snapshot.workspace.id);
    expect(free + rows + leased).toBe(holds * HOLD);
    expect(await node.coordinator.grow(claim, holds * HOLD + 1n)).toBe(false);
    expect(await node.coordinator.grow(claim, holds * HOLD)).toBe(true);
    expect(await node.coordinator.claim(requestOf(snapshot, HOLD))).toMatchObject({ shouldRetry: true });
    end(claim, holds * HOLD);
    await node.post(closed.splice(0));
    expect(await node.coordinator.grow(claim, 1_000n * HOLD)).toBe(false);
    await expect
      .poll(() => moneyOf(node.db, snapshot.workspace.id))
      .toMatchObject({ free: 0n, rows: 0n, leased: 0n });
  });
});

describe('calls that cost nothing', () => {
  it('need rate and concurrency, or only rate, and no funds', async () => {
    const snapshot = await makeWorkspace(node.db, {
      balanceNano: -HOLD,
      limits: { rpm: 2, tpm: 1, concurrency: 1 },
    });
    const stored = claimed(await node.coordinator.claim(requestOf(snapshot, 0n, { need: 'rate' })));
    expect(stored.funding).toBe('none');
    expect(node.coordinator.claim(requestOf(snapshot, 0n, { need: 'rate' }))).toMatchObject({
      code: 'api_key_concurrency_exceeded',
    });
    claimed(await node.coordinator.claim(requestOf(snapshot, 0n, { need: 'models' })));
    expect(node.coordinator.claim(requestOf(snapshot, 0n, { need: 'models' }))).toMatchObject({
      code: 'api_key_rpm_exceeded',
    });
  });
});

describe('a coordinator', () => {
  it('counts the calls of its last minute after a start', async () => {
    const snapshot = await makeWorkspace(node.db, {
      balanceNano: 1_000n * HOLD,
      workspaceLimits: { rpm: 5, tpm: 1_000 },
    });
    const clock = stillClock();
    const fresh = await startNode(database.url, { clock });
    const past = { keyId: snapshot.key.id, workspaceId: snapshot.workspace.id };
    const now = clock.now();
    fresh.coordinator.restoreWindows([
      { ...past, atMs: now - 61_000, tokens: 1_000 },
      { ...past, atMs: now - 30_000, tokens: 600 },
    ]);
    const claim = claimed(await fresh.coordinator.claim(requestOf(snapshot, HOLD, { tokens: 400 })));
    expect(claim.numbers).toEqual({
      requests: { limit: 5, remaining: 3 },
      tokens: { limit: 1_000, remaining: 0 },
    });
    const refused = await fresh.coordinator.claim(requestOf(snapshot, HOLD, { tokens: 500 }));
    expect(refused).toMatchObject({ code: 'workspace_tpm_exceeded' });
    expect(refused).toHaveProperty('retryAfterSeconds', 30);
    fresh.coordinator.release(claim, { atMs: now, chargeNano: 0n, tokens: 0 });
    await fresh.stop();
  });

  it('grants no place and admits nothing while it is suspended, and resumes both afterwards', async () => {
    const snapshot = await makeWorkspace(node.db, { balanceNano: HOLD });
    const place = () => node.coordinator.place(randomUUID(), snapshot);
    node.coordinator.suspend('journal', 'its journal cannot be written');
    const refused = { code: 'local_quota_not_configured', message: expect.stringContaining('its journal') };
    expect(place()).toMatchObject(refused);
    expect(await node.coordinator.claim(requestOf(snapshot, HOLD))).toMatchObject(refused);
    node.coordinator.resume('journal');
    expect(place()).toBeNull();
    claimed(await node.coordinator.claim(requestOf(snapshot, HOLD)));
  });

  it('admits nothing once it is halted, and says why', async () => {
    const snapshot = await makeWorkspace(node.db, { balanceNano: 1_000n * HOLD });
    const halting = await startNode(database.url);
    claimed(await halting.coordinator.claim(requestOf(snapshot, HOLD)));
    halting.coordinator.halt('its journal cannot be written: free space on the disk and restart it');
    expect(halting.coordinator.ready()).toBe(false);
    for (const need of ['generate', 'rate', 'models'] as const) {
      expect(halting.coordinator.claim(requestOf(snapshot, 0n, { need }))).toMatchObject({
        code: 'local_quota_not_configured',
        message: expect.stringContaining('free space on the disk'),
      });
    }
    await halting.stop();
  });

  it.each([
    ['suspended', (other: Node) => other.coordinator.suspend('journal', 'its journal cannot be written')],
    ['halted', (other: Node) => other.coordinator.halt('it is stopping')],
  ])(
    'tells what funds, caps and wrong limits refuse while it is %s (contract: admission/order)',
    async (_, stop) => {
      const other = await startNode(database.url);
      stop(other);
      const codeFor = async (parts: Parameters<typeof makeWorkspace>[1]) => {
        const snapshot = await makeWorkspace(node.db, parts);
        const before = await moneyOf(node.db, snapshot.workspace.id);
        const answer = await other.coordinator.claim(requestOf(snapshot, HOLD));
        expect((await moneyOf(node.db, snapshot.workspace.id)).rows).toBe(before.rows);
        return isRefusal(answer) ? answer.code : 'admitted';
      };
      expect(await codeFor({ balanceNano: 0n, workspaceLimits: { rpm: 0 } })).toBe('insufficient_balance');
      expect(await codeFor({ balanceNano: 5n * HOLD, caps: { dayNano: 0n } })).toBe('day_limit_reached');
      expect(await codeFor({ balanceNano: 5n * HOLD, workspaceLimits: { rpm: 0 } })).toBe(
        'rate_limit_config_invalid',
      );
      expect(await codeFor({ balanceNano: 5n * HOLD })).toBe('local_quota_not_configured');
      await other.stop();
      expect(await codeFor({ balanceNano: 0n })).toBe('local_quota_not_configured');
    },
  );

  it('goes on from its lease while the database is away, then answers 500', async () => {
    const snapshot = await makeWorkspace(node.db, { balanceNano: 100n * HOLD });
    const cut = await startNode(database.url);
    claimed(await cut.coordinator.claim(requestOf(snapshot, HOLD)));
    await cut.db.close();
    let admitted = 0;
    let last: Claim | Refusal;
    do {
      last = await cut.coordinator.claim(requestOf(snapshot, HOLD));
      if (!isRefusal(last)) admitted++;
    } while (!isRefusal(last) && admitted < 1_000);
    expect(admitted).toBeGreaterThan(10);
    expect(last).toMatchObject({ code: 'local_quota_not_configured' });
  });
});
