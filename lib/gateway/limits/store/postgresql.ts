import { Pool, type PoolClient, type QueryResult } from 'pg';
import { decidePermits, freedOf } from '#lib/gateway/limits/pure/decide-permits';
import type { LimitStore, PermitAnswer, PermitRequest } from '#lib/gateway/limits/pure/permit-request';
import { clockOf, enter, readStanding, type Stood, sweep, write } from '#lib/gateway/limits/store/statements';
import { decodeAnswer } from '#lib/gateway/limits/store/wire';

export interface PostgresqlStoreOptions {
  readonly patienceMs: number;
  /** Errors of idle connections. */
  onError(error: Error): void;
  /** Tests alone: SQL for ms since the epoch. */
  readonly clock?: () => string;
}

/** Asks of different workspaces that run at once. */
const CONNECTIONS = 3;
/** A server that does not answer is given up after this, and the connection with it; ms. */
const QUERY_MS = 2_000;

/**
 * Shared limits in PostgreSQL, where there is no Redis: two round trips a permit request, one request at a time for each
 * workspace, by the server's clock.
 * @param url of the database that the process has its money in; the connections are the store's own.
 */
export function postgresqlStore(url: string, options: PostgresqlStoreOptions): LimitStore {
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS,
    connectionTimeoutMillis: QUERY_MS,
    keepAlive: true,
    application_name: 'model-gateway-limits',
  });
  pool.on('error', options.onError);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const clock = options.clock ?? (() => clockOf.server);
  return {
    name: 'PostgreSQL',
    patienceMs: options.patienceMs,
    async carryOut(ask) {
      const client = await pool.connect();
      try {
        const answer = await carryOut(client, ask, clock());
        client.release();
        return answer;
      } catch (error) {
        // Closing the connection ends its transaction, whatever state it is in.
        client.release(true);
        throw error;
      }
    },
    reconnect: () => undefined,
    sweep: async () => {
      await pool.query(sweep(clock()));
    },
    close: () => pool.end(),
  };
}

async function carryOut(client: PoolClient, ask: PermitRequest, clock: string): Promise<PermitAnswer> {
  const stood = readStanding(await run(client, enter(ask, clock)), ask);
  const before = answeredBefore(ask, stood);
  if (before) {
    await client.query('COMMIT');
    return before;
  }
  const decision = decidePermits(ask, stood.subjects);
  const answer: PermitAnswer = {
    epoch: stood.epoch,
    lost: false,
    admitted: decision.admitted,
    subjects: decision.subjects.map(({ calls, granted, room, refused }, position) => {
      const own = calls.requests + calls.tokens > 0 ? [{ ...calls, atMs: stood.nowMs }] : [];
      const entries = [...(stood.subjects[position]?.entries ?? []), ...own];
      return { granted, room, freed: refused ? freedOf(entries, stood.nowMs) : null };
    }),
  };
  await run(client, write(ask, decision, stood.nowMs, encodeAnswer(answer)));
  return answer;
}

/** Several statements in one round trip. pg takes `query_timeout` with each query, though its types do not know it. */
function run(client: PoolClient, statements: string): Promise<QueryResult[]> {
  const timed = Object.assign({ text: statements }, { query_timeout: QUERY_MS });
  return client.query(timed).then((results: QueryResult | QueryResult[]) => [results].flat());
}

function answeredBefore(ask: PermitRequest, { epoch, last }: Stood): PermitAnswer | null {
  const lost = { epoch, lost: true, admitted: [], subjects: [] };
  if (ask.epoch !== null && ask.epoch !== epoch) return lost;
  if (!last || last.turn < ask.turn) return null;
  return last.turn === ask.turn ? decodeAnswer(last.answer) : lost;
}

/** As the script for Redis writes it. */
function encodeAnswer({ epoch, lost, admitted, subjects }: PermitAnswer): string {
  return JSON.stringify({
    epoch,
    lost,
    admitted: admitted.map((one) => (one ? '1' : '0')).join(''),
    subjects: subjects.map(({ granted, room, freed }) => [
      ...[granted.requests, granted.tokens, granted.slots],
      ...[room.requests, room.tokens, room.slots],
      freed,
    ]),
  });
}
