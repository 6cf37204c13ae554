import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setAutoTopUp } from '#lib/control/operations/auto-top-up/operations';
import { ask } from '#lib/control/operations/run';
import {
  balanceOf,
  newWorkspace,
  openShop,
  operator,
  order,
  type Shop,
  spend,
  take,
  takeAll,
} from '#tests/gateway/billing/account';

const program = fileURLToPath(new URL('../../support/stripe/auto-process.ts', import.meta.url));
const usd = 1_000_000_000n;
const charge = 'POST /v1/payment_intents';
let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

const start = (): ChildProcess =>
  spawn(process.execPath, [program, shop.url, shop.server.url], { stdio: ['ignore', 'inherit', 'inherit'] });

/** A workspace with $2 whose usage has just crossed its threshold. */
async function crossed(): Promise<string> {
  const { id, slug } = await newWorkspace(shop);
  shop.server.account.pay((await order(shop, slug, '20', true)).session);
  await takeAll(shop);
  const input = { enabled: true, threshold: '5', amount: '10', monthlyCap: '100' };
  await ask(shop.host, setAutoTopUp, { actor: operator, workspace: slug, input });
  await spend(shop, id, 18);
  return id;
}

const charged = (id: string) =>
  [...shop.server.account.intents.values()].filter(
    ({ metadata, status }) => metadata.workspace === id && metadata.auto === 'true' && status === 'succeeded',
  ).length;

describe('an automatic top-up whose process is killed (contract: money/auto-top-up)', () => {
  it.each(['before', 'after'] as const)(
    '%s Stripe makes the charge is made and credited once by the others',
    async (moment) => {
      const id = await crossed();
      const { server } = shop;
      const reached = Promise.withResolvers<void>();
      const gone = Promise.withResolvers<void>();
      server[moment] = async (what) => {
        if (what !== charge) return;
        reached.resolve();
        await gone.promise;
      };
      const victim = start();
      await reached.promise;
      victim.kill('SIGKILL');
      await once(victim, 'exit');
      server[moment] = () => {};
      gone.resolve();
      expect(await balanceOf(shop, id)).toBe(2n * usd);
      // The dead process has the order for two minutes; then two others look at once.
      await shop.db.pool.query(
        `UPDATE top_up SET next_try_at = now() - interval '1 s' WHERE auto AND workspace_id = $1`,
        [id],
      );
      await Promise.all([start(), start()].map((one) => once(one, 'exit')));
      for (const event of server.account.events.splice(0)) await take(shop, event);
      expect(charged(id)).toBe(1);
      expect(await balanceOf(shop, id)).toBe(12n * usd);
    },
  );
});
