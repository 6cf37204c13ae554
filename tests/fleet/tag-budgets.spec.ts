import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createTagBudget } from '#lib/control/operations/tag-budget/operations';
import { parseUsd } from '#lib/core/money';
import { publish } from '#lib/platform/data/change';
import { expectBalancedBooks } from '#tests/support/books';
import { operate, setWorkspace } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { type Second, startSecond } from '#tests/support/fleet/second';
import { startRedis, type TestRedis } from '#tests/support/redis/server';
import { type OwnStack, startStack } from '#tests/support/stack';

/** So many end users have a dollar a day each; `npm run fleet -- --end-users N tag-budgets` takes more. */
const endUsers = Number(process.env.FLEET_END_USERS ?? 300);
vi.setConfig({ testTimeout: 600_000 + endUsers * 25 });
/** 600 tokens of output at $1,000 a million, and a little input. */
const callNano = parseUsd('0.61');
const limitNano = parseUsd('1');
/** Calls of each end user that are sent at once, each to another process, and calls at once in all. */
const atOnce = 3;
const parallel = 96;

let redis: TestRedis;
let stack: OwnStack;
let others: Second[];
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
beforeAll(async () => {
  redis = await startRedis();
  stack = await startStack({ env: { REDIS_URL: redis.url } });
  others = [await startSecond(stack), await startSecond(stack)];
});
afterAll(async () => {
  agent.destroy();
  await Promise.all(others.map((one) => one.close()));
  await expectBalancedBooks(stack).finally(() => stack.close());
  await redis.close();
});

/** @returns the status of the answer, and its error code. */
function send(url: string, key: string, user: string): Promise<string> {
  const body = JSON.stringify({
    model: 'sandbox/echo',
    max_tokens: 600,
    user,
    messages: [{ role: 'user', content: '[[fault/slow-first-byte?ms=1&tokens=600]]' }],
  });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return new Promise((resolve) => {
    const sent = request(
      new URL('/v1/chat/completions', url),
      { method: 'POST', agent, headers },
      (answer) => {
        let text = '';
        answer.on('data', (part) => {
          text += part;
        });
        answer.on('end', () => resolve(`${answer.statusCode} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`));
        answer.on('error', () => resolve('0 '));
      },
    );
    sent.on('error', () => resolve('0 '));
    sent.end(body);
  });
}

it('gives each of many end users a dollar a day over three processes, one of which is killed: none is over by more than one call (contract: tags/spend)', async () => {
  await stack.db.pool.query(
    `UPDATE price_version SET price = jsonb_set(price, '{base,output}', '"1000000000000"') WHERE offer_id IN (SELECT id FROM offer WHERE model_id = 'sandbox/echo')`,
  );
  const client = await stack.db.pool.connect();
  await client.query('BEGIN');
  await publish(client, [{ kind: 'catalogue', subject: 'test' }]);
  await client.query('COMMIT');
  client.release();
  const wide = { rpm: 1_000_000, tpm: null, concurrency: null, credit: '1000000' };
  const { id, slug } = await stack.workspace(wide);
  await setWorkspace(stack.db, { workspace: slug, endUsers: true });
  await operate(stack.db, createTagBudget, { workspace: slug, dailyCap: '1', rpm: 1000 });
  const { key } = await stack.key(slug);
  await eventually(async () => {
    const { rows } = await stack.db.pool.query(
      'SELECT 1 FROM call WHERE workspace_id = $1 AND cost_nano > $2 LIMIT 1',
      [id, `${callNano / 2n}`],
    );
    if (rows.length === 0) await send(stack.url, key, 'warm-up');
    return rows.length;
  }, 1);
  const urls = [stack.url, ...others.map(({ url }) => url)];
  const told = new Map<string, number>();
  const startMs = Date.now();
  let next = 0;
  let mostRedis = 0;
  const killAt = Math.floor(endUsers / 2);
  const spendAll = async () => {
    for (let user = next++; user < endUsers; user = next++) {
      if (user === killAt) others[1]?.process.kill('SIGKILL');
      if (user % 100 === 0) mostRedis = Math.max(mostRedis, await redisBytes());
      const answers = await Promise.all(
        Array.from({ length: atOnce }, (_, at) => send(urls[(user + at) % 3] ?? '', key, `user-${user}`)),
      );
      for (const answer of answers) told.set(answer, (told.get(answer) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: Math.ceil(parallel / atOnce) }, spendAll));
  const memoryKiB = residentKiB(others[0]?.process.pid);
  const seconds = (Date.now() - startMs) / 1000;
  // A machine that comes back recovers its journal.
  const back = await startSecond(stack, { env: { DATA_DIR: others[1]?.dataDir ?? '' } });
  await others[1]?.close();
  others[1] = back;
  // What the dead process held is free again; all that is left is spent.
  await eventually(async () => {
    const { rows } = await stack.db.pool.query(
      'SELECT count(*)::int AS held FROM hold WHERE workspace_id = $1',
      [id],
    );
    return rows[0]?.held;
  }, 0);
  const { rows } = await stack.db.pool.query<{ most: string; users: number; over: number; differ: number }>(
    `WITH spent AS (
       SELECT t.value, sum(c.cost_nano) AS nano, sum(q.nano) / count(*) AS summed
       FROM tag t JOIN call_tag ct ON ct.tag_id = t.id JOIN call c ON c.id = ct.call_id
       CROSS JOIN LATERAL (SELECT sum(cost_nano) AS nano FROM tag_quarter q WHERE q.tag_id = t.id) AS q
       WHERE t.workspace_id = $1 AND t.value LIKE 'user-%' GROUP BY t.value
     )
     SELECT max(nano)::text AS most, count(*)::int AS users,
       (count(*) FILTER (WHERE nano >= $2::bigint))::int AS over,
       (count(*) FILTER (WHERE nano <> summed))::int AS differ FROM spent`,
    [id, `${limitNano + callNano}`],
  );
  const figures = {
    ...rows[0],
    seconds,
    told: Object.fromEntries(told),
    mostRedisBytes: mostRedis,
    memoryKiB,
  };
  process.stdout.write(`end users: ${JSON.stringify(figures)}\n`);
  expect(rows[0]).toMatchObject({ users: endUsers, over: 0, differ: 0 });
  expect(BigInt(rows[0]?.most ?? 0)).toBeGreaterThan(limitNano);
  expect([...told.keys()].every((answer) => /^(200 |402 day_limit_reached|0 |500 )/.test(answer))).toBe(true);
  expect(told.get('200 ')).toBeGreaterThan(endUsers);
});

/** Bytes that Redis uses. */
async function redisBytes(): Promise<number> {
  const probe = new Redis(redis.url);
  const info = await probe.info('memory');
  probe.disconnect();
  return Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0);
}

/** Memory of a process, KiB; 0: it has ended. */
function residentKiB(pid: number | undefined): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
