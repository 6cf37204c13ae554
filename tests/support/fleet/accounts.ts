import { fairNano } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { codeOf, keyUnresolved, markOf, type Told } from '#tests/support/fleet/client';
import type { Stack } from '#tests/support/stack';
import type { EndLine } from '#tools/sandbox/truth-log';

/** What the gateway's database says about one call. */
export interface Booked {
  readonly id: string;
  readonly mark: string;
  readonly workspaceId: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly endReason: string;
  readonly costNano: bigint;
  readonly holdNano: bigint;
  /** Ids of the provider's answers to it. */
  readonly upstreamIds: readonly string[];
}

/** Every call in the log, by its mark; a call with two rows has two entries in its list. */
export async function readBooked(stack: Stack): Promise<Map<string, Booked[]>> {
  const { rows } = await stack.db.pool.query(
    `SELECT c.id, c.client_request_id, c.workspace_id, c.status, c.error_code, c.end_reason,
       c.cost_nano::text AS cost, c.hold_nano::text AS hold,
       ARRAY(SELECT a->>0 FROM json_array_elements(c.attempts) AS a WHERE a->>0 IS NOT NULL) AS upstream
     FROM call c`,
  );
  const booked = new Map<string, Booked[]>();
  for (const row of rows) {
    const mark = String(row.client_request_id);
    const one: Booked = {
      id: row.id,
      mark,
      workspaceId: row.workspace_id,
      status: row.status,
      errorCode: row.error_code,
      endReason: row.end_reason,
      costNano: BigInt(row.cost),
      holdNano: BigInt(row.hold),
      upstreamIds: row.upstream,
    };
    booked.set(mark, [...(booked.get(mark) ?? []), one]);
  }
  return booked;
}

/**
 * Reads the call log once it has a row for each answer: the row of a refusal, which has no hold, may come
 * last.
 */
export async function readSettled(stack: Stack, told: readonly Told[]): Promise<Map<string, Booked[]>> {
  const missing = async () => {
    const booked = await readBooked(stack);
    const without = told.filter((one) => one.status > 0 && !keyUnresolved(one) && !booked.has(one.mark));
    return without.map((one) => `${one.id} ${one.status} ${codeOf(one)}`);
  };
  await eventually(missing, []);
  return readBooked(stack);
}

/** What the provider knows about one request. */
export interface Provided {
  readonly id: string;
  /** null: it still runs. */
  readonly end: Pick<EndLine, 'status' | 'end'> | null;
  /** The exact price of the usage that it reported. */
  readonly fairNano: bigint;
}

/** Every request that reached the provider, by its call's mark. */
export async function readProvided(stack: Stack): Promise<Map<string, Provided[]>> {
  // Complete lines of a long run would fill the memory.
  const lines = await stack.sandbox.linesAs((line) =>
    line.event === 'begin'
      ? { id: line.id, mark: markOf(line.attemptId) }
      : {
          id: line.id,
          end: { status: line.status, end: line.end },
          fairNano: line.usageReported ? fairNano(line) : 0n,
        },
  );
  const ends = new Map(lines.flatMap((line) => (line.end ? [[line.id, line] as const] : [])));
  const provided = new Map<string, Provided[]>();
  for (const { id, mark } of lines) {
    if (mark === undefined) continue;
    const { end = null, fairNano = 0n } = ends.get(id) ?? {};
    provided.set(mark, [...(provided.get(mark) ?? []), { id, end, fairNano }]);
  }
  return provided;
}

/** The holds, leases and processes that are left in the database. */
export async function readLeft(stack: Stack): Promise<{ holds: number; leases: number; owners: number }> {
  const { rows } = await stack.db.pool.query(
    `SELECT (SELECT count(*)::int FROM hold) AS holds, (SELECT count(*)::int FROM lease) AS leases,
       (SELECT count(*)::int FROM owner) AS owners`,
  );
  return rows[0];
}
