import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '#lib/control/billing/verify';
import { usageOf } from '#lib/core/metering/usage';
import { callColumns, typeIds } from '#lib/gateway/settlement/pure/record/columns';
import { storedAttempts } from '#lib/gateway/settlement/pure/record/stored-attempts';
import { storedCostLines } from '#lib/gateway/settlement/record/stored-lines';
import { recover } from '#lib/gateway/settlement/recover';
import { settle } from '#lib/gateway/settlement/settle';
import { openEmbedded } from '#lib/platform/data/embedded';
import { createDatabase } from '#tests/support/database';
import { seed } from '#tests/support/run/draws';
import { callOf, closeOf, createCustomer, newDirectory, newId } from '#tests/support/settlement';
import { embeddedDirectory } from '#tests/support/shared/embedded';
import { asStored, strangeCalls } from '#tests/unit/settlement/strange-calls';

async function embeddedDatabase() {
  const embedded = await openEmbedded(await embeddedDirectory('migrated'), 'server');
  return { url: embedded.url, drop: embedded.close };
}

describe.each([
  ['a PostgreSQL server', createDatabase],
  ['the embedded database', embeddedDatabase],
])('on %s', (_, open) => {
  let pool: Pool;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const database = await open();
    pool = new Pool({ connectionString: database.url });
    drop = database.drop;
  });
  afterAll(async () => {
    await pool.end();
    await drop();
  });

  it('the type of a row has the columns that the journal writes', async () => {
    const { rows } = await pool.query(
      `SELECT attname AS name, atttypid::int AS type FROM pg_attribute
       WHERE attrelid = (SELECT typrelid FROM pg_type WHERE typname = 'call_record') ORDER BY attnum`,
    );
    expect(rows).toEqual(callColumns.map(([name, type]) => ({ name, type: typeIds[type] })));
  });

  it('a call is stored as it was, whatever strangers put into it', async () => {
    const customer = await createCustomer(pool);
    // The model and the provider that answered are names of the catalogue.
    const answered = { answeringModel: 'openai/gpt-4.1', provider: 'openai', costNano: 7n };
    const sample = fc.sample(strangeCalls(customer), { numRuns: 300, seed });
    const calls = sample.map((call) => ({ ...call, ...answered }));
    await settle(
      pool,
      newId(),
      calls.map((call) => closeOf(call)),
    );
    const { rows } = await pool.query('SELECT * FROM call WHERE workspace_id = $1', [customer.workspaceId]);
    const stored = new Map(rows.map((row) => [row.id, row]));
    expect(stored.size, `seed ${seed}`).toBe(300);
    for (const call of calls) {
      const row = stored.get(call.id);
      expect({
        id: row.id,
        clientRequestId: row.client_request_id,
        atMs: row.at.getTime(),
        workspaceId: row.workspace_id,
        keyId: row.key_id,
        family: row.family,
        operation: row.operation,
        requestedModel: row.requested_model,
        answeringModel: row.answering_model,
        provider: row.provider,
        status: row.status,
        errorCode: row.error_code,
        streamed: row.streamed,
        latencyMs: row.latency_ms,
        firstByteMs: row.first_byte_ms,
        overheadMs: Math.fround(row.overhead_ms),
        endReason: row.end_reason,
        usageSource: row.usage_source,
        flags: row.flags ?? [],
        usage: usageOf(row.usage),
        lines: storedCostLines(row.lines),
        costNano: BigInt(row.cost_nano),
        holdNano: BigInt(row.hold_nano),
        priceVersionId: row.price_version_id,
        userAgent: row.user_agent,
        attempts: storedAttempts(row.attempts, { ...row, answeringModel: row.answering_model }),
      }).toEqual(asStored(call));
    }
  });

  it('the journal that a killed process left in layout 3 is posted once', async () => {
    const dir = newDirectory();
    const file = join(import.meta.dirname, 'journal-layout-3.base64');
    const bytes = Buffer.from(readFileSync(file, 'utf8'), 'base64');
    const [workspaceId, keyId] = [
      '019a9000-0000-7000-8000-00000000000a',
      '019a9000-0000-7000-8000-00000000000b',
    ];
    await createCustomer(pool, { workspaceId, keyId });
    for (let start = 0; start < 2; start++) {
      writeFileSync(join(dir, '019a9000-0000-7000-8000-00000000000c-1.log'), bytes);
      const reports: Error[] = [];
      await recover({ pool, dir, nowMs: Date.now(), report: (error) => reports.push(error) });
      expect(reports).toEqual([]);
    }
    const { rows } = await pool.query(
      `SELECT right(id::text, 2) AS call, status, end_reason, cost_nano, flags, lines, attempts FROM call
       WHERE key_id = $1 ORDER BY id`,
      [keyId],
    );
    expect(rows).toEqual([
      {
        call: '21',
        status: 200,
        end_reason: 'completed',
        cost_nano: '20',
        flags: ['usage_anomaly'],
        lines: [['input', 20, 1000000]],
        attempts: [
          [null, 1, 5, null, 'first_byte_timeout', 'one', 'a/b', true],
          ['req_1', 6, 110, 200, null, 'openai', 'gpt-4.1'],
        ],
      },
      expect.objectContaining({ call: '22', end_reason: 'interrupted', cost_nano: '9' }),
      expect.objectContaining({ call: '23', status: 402, end_reason: 'refused', attempts: [] }),
    ]);
    const kept = await pool.query('SELECT id FROM resource WHERE workspace_id = $1', [workspaceId]);
    expect(kept.rows).toEqual([{ id: 'resp_é' }]);
    const balance = await pool.query('SELECT balance_nano FROM workspace WHERE id = $1', [workspaceId]);
    expect(balance.rows).toEqual([{ balance_nano: '999999999971' }]);
    expect(readdirSync(dir)).toEqual([]);
    const { checks } = await verifyLedger({ pool });
    expect(
      checks.filter(({ rows: broken, name }) => broken.length > 0 && name.startsWith('the balance')),
    ).toEqual([]);
  });

  it('of calls in any order, all are settled', async () => {
    const customer = await createCustomer(pool);
    const calls = Array.from({ length: 50 }, () => callOf(customer, { costNano: 3n }));
    await settle(
      pool,
      newId(),
      calls.toReversed().map((call) => closeOf(call)),
    );
    const { rows } = await pool.query('SELECT count(*)::int AS calls FROM call WHERE key_id = $1', [
      customer.keyId,
    ]);
    expect(rows).toEqual([{ calls: 50 }]);
  });
});
