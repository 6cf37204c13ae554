import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { begin, costOf, lineOf, linesOf, newClient, upload } from '#tests/gateway/batches/stage';
import { tell } from '#tests/gateway/resources/possessions';
import { closeBalanced } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

describe('batches', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  const jobOf = async (id: string) =>
    (
      await stack.db.pool.query(
        `SELECT call_id AS "callId", state, settled_at IS NOT NULL AS settled, cost_nano::text AS cost, hold_nano::text AS hold, flags
         FROM job WHERE upstream_id = $1`,
        [id],
      )
    ).rows[0];
  const settled = (id: string) => eventually(async () => (await jobOf(id))?.settled, true);

  it('run the lines of a file, each charged by its result at the price of batches', async () => {
    const own = await newClient(stack);
    const file = await upload(own, [...linesOf(20), lineOf('refused', { messages: 'none' })]);
    expect(file).toMatchObject({ object: 'file', purpose: 'batch' });
    const made = await begin(own, file.id);
    expect(made).toMatchObject({ object: 'batch', input_file_id: file.id });
    const held = BigInt((await jobOf(made.id)).hold);
    await settled(made.id);
    const seen = await own.client.batches.retrieve(made.id);
    expect(seen).toMatchObject({
      status: 'completed',
      request_counts: { total: 21, completed: 20, failed: 1 },
    });
    const results = await (await own.client.files.content(seen.output_file_id ?? '')).text();
    const job = await jobOf(made.id);
    expect(BigInt(job.cost)).toBe(costOf(results));
    expect(BigInt(job.cost)).toBeGreaterThan(0n);
    expect(held).toBeGreaterThan(BigInt(job.cost));
    const { rows } = await stack.db.pool.query(
      'SELECT custom_id, status, cost_nano::text AS cost FROM batch_line WHERE call_id = $1 ORDER BY custom_id',
      [job.callId],
    );
    expect(rows).toHaveLength(21);
    expect(rows.at(-1)).toEqual({ custom_id: 'refused', status: 400, cost: '0' });
    const listed = [];
    for await (const one of own.client.files.list()) listed.push(one.purpose);
    expect(listed.sort()).toEqual(['batch', 'batch_output', 'batch_output']);
  });
});
