import { types } from 'pg';
import { type Call, Prisma } from '#generated/client';
import { type CallDetail, type CallNames, callDetail } from '#lib/control/operations/call/detail';
import type { Db } from '#lib/platform/data/db';
import { findCall } from '#tests/support/control/operate';
import { columnOf } from '#tests/support/shared/rows';

/** Calls are posted five times a second. */
const lookMs = 75;
const longestMs = 120_000;

interface Waiting {
  readonly id: string;
  readonly untilMs: number;
  readonly found: (call: CallDetail) => void;
  readonly fail: (error: unknown) => void;
}

type Found = Call & Omit<CallNames, 'pricesSince'> & { readonly more: boolean };

const columns = Object.keys(Prisma.CallScalarFieldEnum).map((name) => {
  const column = `c.${columnOf(name)}`;
  // A list without a value is empty, as Prisma reads it.
  return `${name === 'flags' ? `coalesce(${column}, '{}')` : column} AS "${name}"`;
});

/** Reads what `call.show` reads with five Prisma statements. */
const statement = {
  name: 'test-calls',
  text: `SELECT ${columns.join(', ')}, w.slug AS "workspaceSlug", k.name AS "keyName",
      coalesce(k.session_id IS NOT NULL, false) AS playground,
      EXISTS (SELECT FROM job j WHERE j.call_id = c.id)
        OR EXISTS (SELECT FROM adjustment a WHERE a.call_id = c.id)
        OR EXISTS (SELECT FROM call_feedback f WHERE f.call_id = c.id)
        OR EXISTS (SELECT FROM call_tag t WHERE t.call_id = c.id) AS more, NULL AS feedback, ARRAY[]::text[] AS tags
    FROM call c LEFT JOIN workspace w ON w.id = c.workspace_id LEFT JOIN api_key k ON k.id = c.key_id
    WHERE c.id = ANY ($1)`,
  types: {
    getTypeParser: (type: number) => (type === types.builtins.INT8 ? BigInt : types.getTypeParser(type)),
  },
};

/**
 * Returns a function that waits until a call is in the log. One statement looks for all calls that a file
 * waits for, because many tests wait at the same time, and a statement for each would keep the database busy.
 * @returns a function that rejects after two minutes, or if the database does not answer.
 */
export function awaitCalls(db: Db): (id: string) => Promise<CallDetail> {
  let waiting: Waiting[] = [];
  let looking = false;
  const take = (which: (one: Waiting) => boolean) => {
    const taken = waiting.filter(which);
    waiting = waiting.filter((one) => !which(one));
    return taken;
  };
  const look = async () => {
    const ids = waiting.map(({ id }) => id);
    const { rows } = await db.pool.query<Found>({ ...statement, values: [ids] });
    const there = new Map(rows.map((row) => [row.id, row]));
    for (const { id, found, fail } of take((one) => there.has(one.id))) {
      const row = there.get(id);
      if (row) detailOf(db, row).then(found, fail);
    }
    const now = performance.now();
    for (const { id, fail } of take(({ untilMs }) => untilMs < now)) {
      fail(new Error(`call ${id} did not reach the log within ${longestMs / 1000} s`));
    }
  };
  const lookOn = async () => {
    looking = true;
    while (waiting.length > 0) {
      await look().catch((error) => {
        for (const { fail } of take(() => true)) fail(error);
      });
      if (waiting.length > 0) await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
    looking = false;
  };
  return (id) =>
    new Promise((found, fail) => {
      waiting.push({ id, untilMs: performance.now() + longestMs, found, fail });
      if (!looking) void lookOn();
    });
}

/**
 * The call as `call.show` returns it; if it has a job or a corrected charge, the operation itself reads them.
 */
async function detailOf(db: Db, { more, ...call }: Found): Promise<CallDetail> {
  // Without the dates of prices, which would take another statement.
  const shown = more
    ? await findCall(db, call.id)
    : callDetail(call, null, null, { ...call, pricesSince: new Map() });
  if (shown) return shown;
  throw new Error(`call ${call.id} has left the log`);
}
