import { afterAll, beforeAll, expect, it } from 'vitest';
import { deleteWorkspace } from '#lib/control/operations/workspace/delete';
import { refusalOf } from '#tests/gateway/control/accounts/people';
import { closeBalanced } from '#tests/support/books';
import { operate } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { readProvided, readSettled } from '#tests/support/fleet/accounts';
import { Client, codeOf, type Told } from '#tests/support/fleet/client';
import { judge } from '#tests/support/fleet/judge';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

let stack: Stack;
let client: Client;
beforeAll(async () => {
  stack = await joinStack();
  client = new Client(stack.url);
});
afterAll(async () => {
  client.close();
  await closeBalanced(stack);
});

it('a workspace that is deleted under load keeps its running jobs, lets its streams end, and is charged for each once (contract: control-plane/deleted-workspace)', async () => {
  const { slug, id } = await stack.workspace({ rpm: 100_000, tpm: null, concurrency: null });
  const { key } = await stack.key(slug);
  const remove = () => operate(stack.db, deleteWorkspace, { workspace: slug, confirm: slug });
  const film = await fetch(`${stack.url}/v1/videos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/film', prompt: '[[film?job_ms=300]]', seconds: '4' }),
  });
  const { id: job } = await film.json();
  expect(await refusalOf(remove())).toContain('still running');
  const ended = 'SELECT 1 FROM job WHERE upstream_id = $1 AND settled_at IS NOT NULL';
  await eventually(async () => {
    await fetch(`${stack.url}/v1/videos/${job}`, { headers: { authorization: `Bearer ${key}` } });
    return (await stack.db.pool.query(ended, [job])).rowCount;
  }, 1);

  const told: Promise<Told>[] = [];
  const heads = Array.from({ length: 12 }, () => Promise.withResolvers<void>());
  for (const { resolve } of heads)
    told.push(client.call(key, { stream: true, directive: 'pace/20/80' }, resolve));
  const streams = [...told];
  await Promise.all(heads.map(({ promise }) => promise));
  // Six clients that call until they are refused.
  const loops = Array.from({ length: 6 }, async () => {
    for (;;) {
      const call = client.call(key);
      told.push(call);
      const one = await call;
      if (one.status !== 200) return codeOf(one);
    }
  });
  const removals = await Promise.allSettled([remove(), remove(), remove()]);
  expect(removals.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await stack.announce();
  expect(new Set(await Promise.all(loops))).toEqual(new Set(['invalid_api_key']));
  const whole = (await Promise.all(streams)).filter((one) => one.whole && one.text.includes('data: [DONE]'));
  expect(whole).toHaveLength(12);

  const all = (await Promise.all(told)).filter((one) => one.status === 200);
  const figures = judge(all, await readSettled(stack, all), await readProvided(stack));
  expect(figures).toMatchObject({ calls: all.length, answered: all.length, interrupted: 0 });
  const { rows } = await stack.db.pool.query(
    'SELECT count(*)::int AS jobs, sum(cost_nano)::text AS cost FROM job WHERE workspace_id = $1',
    [id],
  );
  expect(rows).toEqual([{ jobs: 1, cost: '400000000' }]);
});

it('a job that is created while its workspace is deleted is refused, keeps it, or is charged once, in eight rounds', async () => {
  const rounds = Array.from({ length: 8 }, async (_, round) => {
    const { slug, id } = await stack.workspace();
    const { key } = await stack.key(slug);
    // Some of the creations reach the gateway before the deletion, some beside it.
    const create = fetch(`${stack.url}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox/film', prompt: '[[film?job_ms=1]]', seconds: '4' }),
    });
    if (round % 2 === 0) await (await create).text();
    const [created, removed] = await Promise.allSettled([
      create,
      operate(stack.db, deleteWorkspace, { workspace: slug, confirm: slug }),
    ]);
    if (created.status === 'rejected') throw created.reason;
    return { id, created: created.value.status, removed: removed.status === 'fulfilled' };
  });
  const ended = await Promise.all(rounds);
  for (const { created } of ended) expect([200, 401, 403]).toContain(created);
  const charged = ended.filter(({ created }) => created === 200).map(({ id }) => id);
  const jobs = async () => {
    await stack.db.pool.query(
      'UPDATE job SET next_poll_at = now() WHERE workspace_id = ANY ($1::uuid[]) AND settled_at IS NULL',
      [charged],
    );
    const { rows } = await stack.db.pool.query<{ id: string; cost: string }>(
      `SELECT workspace_id AS id, sum(cost_nano)::text AS cost FROM job
       WHERE workspace_id = ANY ($1::uuid[]) AND settled_at IS NOT NULL GROUP BY 1`,
      [ended.map(({ id }) => id)],
    );
    return rows;
  };
  await eventually(async () => (await jobs()).length, charged.length);
  expect(await jobs()).toEqual(expect.arrayContaining(charged.map((id) => ({ id, cost: '400000000' }))));
});
