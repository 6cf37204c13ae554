import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectBalancedBooks } from '#tests/support/books';
import { commandLine } from '#tests/support/command';
import { readBooked, readProvided } from '#tests/support/fleet/accounts';
import { Client, codeOf, type Told } from '#tests/support/fleet/client';
import { type OwnStack, startStack } from '#tests/support/stack';

const wide = { rpm: 1_000_000, tpm: null, concurrency: null };
/** How long it is away. Its promise is that of 60 s: `FLEET_AWAY_S=60`. */
const awayMs = Number(process.env.FLEET_AWAY_S ?? 10) * 1000;
/** 7,000 tokens of output: $0.028. */
const expensive = { directive: 'fault/slow-first-byte?ms=50&tokens=7000', maxTokens: 7000 };

let stack: OwnStack;
let client: Client;
beforeAll(async () => {
  stack = await startStack();
  client = new Client(stack.url);
});
afterAll(async () => {
  client.close();
  await stack.close();
});

const outcome = (told: Told) => `${told.status} ${codeOf(told)}`.trim();

it.each(['cut', 'freeze'] as const)(
  `lives through ${awayMs / 1000} s without PostgreSQL (%s), then settles all`,
  async (how) => {
    const [rich, small, low] = await Promise.all([
      stack.workspace(wide),
      stack.workspace({ ...wide, credit: '3' }),
      stack.workspace({ ...wide, credit: '0.30' }),
    ]);
    const [known, leased, byRow, unknown] = await Promise.all([
      stack.key(rich.slug, { dailyCap: '50' }),
      stack.key(small.slug),
      stack.key(low.slug),
      stack.key(rich.slug),
    ]);
    const told: Told[] = [];
    const call = async (key: string, wish = {}) => {
      const one = await client.call(key, wish);
      told.push(one);
      return outcome(one);
    };
    for (const [key, wish] of [
      [known.key, {}],
      [leased.key, expensive],
      [byRow.key, {}],
    ] as const) {
      const one = await client.ask(key, wish);
      told.push(one);
      expect(outcome(one)).toBe('200');
    }
    const heads: Promise<void>[] = [];
    const running = Array.from({ length: 20 }, () => {
      const head = Promise.withResolvers<void>();
      heads.push(head.promise);
      return client.call(known.key, { stream: true, directive: 'pace/40/150' }, head.resolve);
    });
    await Promise.all(heads);

    const cutMs = performance.now();
    stack.databaseProxy[how]();
    const steady: Record<string, number> = {};
    const inMemory = (async () => {
      while (performance.now() - cutMs < awayMs) {
        const begunMs = performance.now();
        const answered = await call(known.key);
        // Its lease lasts for 45 s, of which up to 15 were over at the cut.
        const isLeased = begunMs - cutMs < 25_000;
        expect(isLeased ? ['200'] : ['200', '500 local_quota_not_configured']).toContain(answered);
        steady[answered] = (steady[answered] ?? 0) + 1;
        await pause(100);
      }
    })();
    // Its workspace is below the lease floor: each hold would be a row.
    expect(await call(byRow.key)).toBe('500 local_quota_not_configured');
    const unresolved: string[] = [];
    // The pause after a failure is a second, then twice as long each time: a busy machine may miss the first ones.
    do unresolved.push(outcome(await client.call(unknown.key)));
    while (unresolved.at(-1) === '502 auth_resolve_failed' && unresolved.length < 6);
    expect([unresolved[0], unresolved.at(-1)]).toEqual(['502 auth_resolve_failed', '429 hydrate_cooldown']);
    let fromLease = 0;
    // Several at once: the lease is used up long before it ends, also on a busy machine.
    for (let admitted = 1; admitted > 0 && fromLease < 200; fromLease += admitted) {
      const round = await Promise.all(Array.from({ length: 8 }, () => call(leased.key, expensive)));
      admitted = round.filter((answered) => answered === '200').length;
      const refused = round.filter((answered) => answered !== '200');
      expect(refused).toEqual(refused.map(() => '500 local_quota_not_configured'));
    }
    // Half of $3 was leased; each call of it takes $0.028.
    expect(fromLease).toBeGreaterThan(40);
    expect(fromLease).toBeLessThan(56);
    const streams = await Promise.all(running);
    expect(streams.filter((one) => one.whole && one.text.includes('data: [DONE]'))).toHaveLength(20);
    expect((await fetch(`${stack.url}/api/health`)).status).toBe(200);
    await inMemory;

    stack.databaseProxy.restore();
    const backMs = performance.now();
    for (const key of [leased.key, byRow.key, unknown.key]) {
      await expect.poll(() => call(key), { interval: 250 }).toBe('200');
    }
    const answered = [...told, ...streams].filter((one) => one.status === 200);
    const missing = async () => {
      const booked = await readBooked(stack);
      return answered.filter((one) => booked.get(one.mark)?.length !== 1).length;
    };
    await expect.poll(missing, { timeout: 120_000, interval: 100 }).toBe(0);
    const settledMs = Math.round(performance.now() - backMs);
    const figures = {
      how,
      away: awayMs,
      answered: answered.length,
      inMemory: steady,
      fromLease,
      settledMs,
    };
    process.stdout.write(`PostgreSQL away: ${JSON.stringify(figures)}\n`);

    await expectBalancedBooks(stack);
    const booked = await readBooked(stack);
    const provided = await readProvided(stack);
    for (const one of answered) {
      const [row] = booked.get(one.mark) ?? [];
      const [request] = provided.get(one.mark) ?? [];
      expect(row).toMatchObject({ id: one.id, endReason: 'completed', costNano: request?.fairNano });
    }
    for (const one of told.filter(({ status }) => status === 500)) {
      expect(booked.get(one.mark)?.[0]).toMatchObject({ endReason: 'refused', costNano: 0n });
      expect(provided.has(one.mark)).toBe(false);
    }
    const command = commandLine(stack.databaseUrl, { DATA_DIR: stack.dataDir });
    expect(await command.run('ledger', 'verify')).toMatchObject({ exit: 0 });
    command.close();
  },
  awayMs + 600_000,
);
