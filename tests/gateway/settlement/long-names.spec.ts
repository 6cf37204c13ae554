import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifyLedger } from '#lib/control/billing/verify';
import { eventually } from '#tests/support/eventually';
import { type InProcess, startInProcess } from '#tests/support/in-process';
import { random } from '#tests/support/limits/matrix';

let gateway: InProcess;
beforeAll(async () => {
  gateway = await startInProcess();
});
afterAll(() => gateway.close());

const drawn = random(1);
const anyOf = (first: number, count: number) => String.fromCodePoint(first + Math.floor(drawn() * count));
const textOf = (length: number, first: number, count: number) =>
  Array.from({ length }, () => anyOf(first, count)).join('');

/** Slugs that no catalogue has, of characters that no index makes shorter; in a path each fits into 32 KiB. */
const names = {
  'of 1,000 characters in 3 bytes each': textOf(1_000, 0x4e00, 20_000),
  'of 1,000 characters in 4 bytes each': textOf(1_000, 0x1f300, 500),
  'of 1,000 letters': textOf(1_000, 0x61, 26),
  'of 201 letters': textOf(201, 0x61, 26),
  'of 200 letters': textOf(200, 0x61, 26),
};

it.each(Object.entries(names))(
  'a model %s that is refused before it is looked up keeps no other call from the ledger',
  async (_, name) => {
    const { key, id: keyId } = await gateway.key();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const post = (path: string, body: string) =>
      fetch(`${gateway.url}${path}`, { method: 'POST', headers, body });
    const refused = await post(`/v1beta/models/${encodeURIComponent(name)}:generateContent`, '{');
    expect(refused.status).toBe(400);
    await refused.text();
    const messages = [{ role: 'user', content: 'Hello' }];
    const served = await post('/v1/chat/completions', JSON.stringify({ model: 'sandbox/echo', messages }));
    expect(served.status).toBe(200);
    await served.text();
    const logged = async () => {
      const { rows } = await gateway.db.pool.query(
        `SELECT (SELECT count(*)::int FROM call WHERE key_id = $1) AS calls,
           (SELECT sum(calls)::int FROM ledger_line JOIN api_key k USING (workspace_id)
              WHERE k.id = $1 AND kind = 'usage') AS charged`,
        [keyId],
      );
      return rows[0];
    };
    await eventually(logged, { calls: 2, charged: 1 });
    const { checks } = await verifyLedger(gateway.db);
    expect(checks.filter((check) => check.rows.length > 0)).toEqual([]);
  },
);

it('requests for models that no catalogue has count under an empty one (contract: call-log/unknown-models)', async () => {
  const { key, id } = await gateway.key();
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const statusOf = async (path: string, body?: string) => {
    const method = body === undefined ? 'GET' : 'POST';
    const answer = await fetch(`${gateway.url}${path}`, { method, headers, ...(body ? { body } : {}) });
    await answer.text();
    return answer.status;
  };
  const chat = (model: string) => JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
  expect(await statusOf('/v1/models/none-such-1')).toBe(404);
  expect(await statusOf('/v1beta/models/none-such-2')).toBe(404);
  expect(await statusOf('/v1beta/models/none-such-3/operations/none')).toBe(404);
  expect(await statusOf('/v1beta/models/none-such-4:generateContent', '{')).toBe(400);
  expect(await statusOf('/v1/chat/completions', chat('none-such-5'))).toBe(400);
  expect(await statusOf('/v1beta/models/sandbox/echo:generateContent', '{')).toBe(400);
  const counted = async () => {
    const { rows } = await gateway.db.pool.query(
      'SELECT model, sum(calls)::int AS calls FROM usage_quarter WHERE key_id = $1 GROUP BY 1 ORDER BY 1',
      [id],
    );
    return rows;
  };
  await eventually(counted, [
    { model: '', calls: 3 },
    // The two entries of models (contract: call-log/own-answers).
    { model: '(gateway)', calls: 2 },
    { model: 'sandbox/echo', calls: 1 },
  ]);
});
