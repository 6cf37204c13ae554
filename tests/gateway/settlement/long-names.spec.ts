import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifyLedger } from '#lib/billing/verify';
import { eventually } from '#tests/support/eventually';
import { type InProcess, startInProcess } from '#tests/support/in-process';

let gateway: InProcess;
beforeAll(async () => {
  gateway = await startInProcess();
});
afterAll(() => gateway.close());

const anyOf = (first: number, count: number) =>
  String.fromCodePoint(first + Math.floor(Math.random() * count));
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
