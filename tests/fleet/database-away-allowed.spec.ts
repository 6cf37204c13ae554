import { expect, it } from 'vitest';
import { expectBalancedBooks } from '#tests/support/books';
import { commandLine } from '#tests/support/command';
import { readBooked } from '#tests/support/fleet/accounts';
import { Client, codeOf, type Told } from '#tests/support/fleet/client';
import { startLoad } from '#tests/support/fleet/load';
import { startSecond } from '#tests/support/fleet/second';
import { startStack } from '#tests/support/stack';

/** How long it is away; the setting is for outages of minutes: `FLEET_AWAY_S=600`. */
const awayMs = Number(process.env.FLEET_AWAY_S ?? 10) * 1000;
const wide = { rpm: 1_000_000, tpm: null, concurrency: null };
const allowed = { DATABASE_AWAY_MINUTES: '15', DATABASE_AWAY_USD: '30' };
/** 7,000 tokens of output: $0.028. */
const expensive = { directive: 'fault/slow-first-byte?ms=50&tokens=7000', maxTokens: 7000 };
const nano = 1_000_000_000n;

const outcome = (told: Told) => `${told.status} ${codeOf(told)}`.trim();

/** Each transaction of a process that asks for money of a workspace says so. */
const asks = (workspaceId: string) => `SELECT 1 FROM workspace WHERE id = '${workspaceId}'`;

it.each(process.env.FLEET_AWAY_S ? (['cut', 'freeze'] as const) : (['cut'] as const))(
  `three processes refuse no call for ${awayMs / 1000} s without PostgreSQL (%s) within the allowance (contract: money/outage-allowance)`,
  async (how) => {
    let watched: string | null = null;
    let asked = 0;
    const stack = await startStack({
      env: allowed,
      watchDatabase: () => (bytes) => {
        if (watched !== null && bytes.includes(asks(watched))) asked += 1;
      },
    });
    const others = await Promise.all([startSecond(stack), startSecond(stack)]);
    const clients = [stack, ...others].map(({ url }) => new Client(url));
    const [rich, small] = await Promise.all([
      stack.workspace({ ...wide, credit: '1000' }),
      stack.workspace({ ...wide, credit: '3' }),
    ]);
    const [capped, scarce] = await Promise.all([
      stack.key(rich.slug, { dailyCap: '500' }),
      stack.key(small.slug),
    ]);
    const told: Told[] = [];
    const keep = (one: Told) => {
      told.push(one);
      return one;
    };
    for (const client of clients) {
      keep(await client.ask(capped.key));
      keep(await client.ask(scarce.key, expensive));
    }
    // Every 10 s each asks again what is free: then the shares add up to what is there.
    const cheap = startLoad(clients, [scarce.key], [{}], 6, () => 0, keep);
    watched = small.id;
    await expect.poll(() => asked, { timeout: 60_000, interval: 50 }).toBeGreaterThanOrEqual(6);
    await cheap.stop();
    const random = (below: number) => Math.floor(Math.random() * below);
    const load = startLoad(clients, [capped.key], [{}, { stream: true }], 30, random, keep);
    const away = new Promise((resolve) => setTimeout(resolve, awayMs));
    stack.databaseProxy[how]();
    // Each spends its share of the scarce workspace, until it refuses.
    let fromShares = 0;
    for (const client of clients) {
      for (let admitted = 1; admitted > 0; fromShares += admitted) {
        const round = await Promise.all(Array.from({ length: 4 }, () => client.call(scarce.key, expensive)));
        for (const one of round) keep(one);
        admitted = round.filter((one) => one.status === 200).length;
        for (const one of round.filter(({ status }) => status !== 200)) {
          expect(outcome(one)).toBe('500 local_quota_not_configured');
          expect(one.text).toMatch(/what this workspace may spend without it is used up/);
        }
      }
    }
    await away;
    for (const { url } of [stack, ...others]) expect((await fetch(`${url}/api/health`)).status).toBe(200);
    const steady = await load.stop();
    expect(steady.filter(({ status }) => status !== 200)).toEqual([]);

    stack.databaseProxy.restore();
    const backMs = performance.now();
    const answered = told.filter((one) => one.status === 200);
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
      steady: steady.length,
      fromShares,
      settledMs,
    };
    process.stdout.write(`PostgreSQL away, with an allowance: ${JSON.stringify(figures)}\n`);

    const workspace = await stack.db.prisma.workspace.findUniqueOrThrow({ where: { id: small.id } });
    expect(workspace.balanceNano + 3n * nano).toBeGreaterThanOrEqual(0n);
    expect(fromShares).toBeGreaterThan(60);
    // Then money is there again by the database's word alone.
    for (const client of clients) {
      await expect.poll(async () => outcome(await client.call(capped.key)), { interval: 250 }).toBe('200');
    }
    await expectBalancedBooks(stack);
    const command = commandLine(stack.databaseUrl, { DATA_DIR: stack.dataDir });
    expect(await command.run('ledger', 'verify')).toMatchObject({ exit: 0 });
    command.close();
    for (const client of clients) client.close();
    for (const other of others) await other.close();
    await stack.close();
  },
  awayMs + 600_000,
);
