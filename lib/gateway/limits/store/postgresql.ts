import { Pool, type PoolClient, type QueryResult } from 'pg';
import type { Weight } from '#lib/gateway/limits/pure/limits';
import {
  type Decision,
  decidePermits,
  freedOf,
  type LimitStore,
  type PermitAnswer,
  type PermitRequest,
  permitMs,
  type Standing,
  slotLifeMs,
} from '#lib/gateway/limits/pure/permit-request';
import { WINDOW_MS } from '#lib/gateway/limits/pure/window';
import { text, uuid } from '#lib/platform/data/literals';

interface PostgresqlStoreOptions {
  readonly patienceMs: number;
  /** Errors of idle connections. */
  onError(error: Error): void;
  /** Tests only: SQL for ms since the epoch. */
  readonly clock?: () => string;
}

/** Permit requests of different workspaces that run at once. */
const CONNECTIONS = 3;
/** A server that does not answer is given up after this, and the connection with it; ms. */
const QUERY_MS = 2_000;

/**
 * Shared limits in PostgreSQL, if there is no Redis: two round trips a permit request, one request at a time for each
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
  const clock = options.clock ?? (() => serverClock);
  return {
    name: 'PostgreSQL',
    patienceMs: options.patienceMs,
    async carryOut(request) {
      const client = await pool.connect();
      try {
        const answer = await carryOut(client, request, clock());
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

async function carryOut(client: PoolClient, request: PermitRequest, clock: string): Promise<PermitAnswer> {
  const stood = readStanding(await run(client, enter(request, clock)), request);
  const before = answeredBefore(request, stood);
  if (before) {
    await client.query('COMMIT');
    return before;
  }
  const decision = decidePermits(request, stood.subjects);
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
  await run(client, write(request, decision, stood.nowMs, JSON.stringify(answer)));
  return answer;
}

/** Several statements in one round trip. pg takes `query_timeout` with each query, though its types do not know it. */
function run(client: PoolClient, statements: string): Promise<QueryResult[]> {
  const timed = Object.assign({ text: statements }, { query_timeout: QUERY_MS });
  return client.query(timed).then((results: QueryResult | QueryResult[]) => [results].flat());
}

function answeredBefore(request: PermitRequest, { epoch, last }: Stood): PermitAnswer | null {
  const lost = { epoch, lost: true, admitted: [], subjects: [] };
  if (request.epoch !== null && request.epoch !== epoch) return lost;
  if (!last || last.turn < request.turn) return null;
  return last.turn === request.turn ? JSON.parse(last.answer) : lost;
}

/** What PostgreSQL knows about a permit request, once its report is in. */
interface Stood {
  readonly nowMs: number;
  readonly epoch: string;
  /** What the process was answered last. */
  readonly last: { readonly turn: number; readonly answer: string } | null;
  /** By position of the subject; what counts, summed up by the second in which it leaves the window. */
  readonly subjects: readonly (Standing & { readonly entries: readonly (Weight & { atMs: number })[] })[];
}

/** ms: no process's clock admits anything. */
const serverClock = 'extract(epoch FROM clock_timestamp()) * 1000';

const now = `current_setting('gateway.now')::float8`;
/** What no request was about for so long is forgotten; longer than any window and the permits in it. */
const KEEP_MS = 65_000;

/**
 * The first round trip: takes the workspace's turn, enters what the process reports, and reads what counts.
 * What is reported are facts: they go in whatever becomes of the permit request, and twice they change nothing.
 */
function enter(request: PermitRequest, clock: string): string {
  const workspace = uuid(request.workspaceId);
  const ids = request.subjects.map(({ id }) => uuid(id)).join(', ');
  return `BEGIN; SET LOCAL lock_timeout = '1s'; SET LOCAL statement_timeout = '2s';
    SET LOCAL idle_in_transaction_session_timeout = '5s';
    SELECT pg_advisory_xact_lock(hashtextextended(${text(request.workspaceId)}, 60));
    SELECT set_config('gateway.now', (${clock})::float8::text, true) AS now;
    INSERT INTO limit_turn (workspace_id, process, turn, answer, at_ms) VALUES (${workspace}, '', 0, ${now}::text, ${now})
      ON CONFLICT (workspace_id, process) DO UPDATE SET at_ms = excluded.at_ms RETURNING answer AS epoch;
    ${lower(request)} ${use(request)}
    SELECT turn, answer FROM limit_turn WHERE workspace_id = ${workspace} AND process = ${text(request.process)};
    SELECT subject_id, max(at_ms) AS at_ms, sum(requests) AS requests, sum(tokens) AS tokens
      FROM limit_grant WHERE subject_id IN (${ids}) AND at_ms > ${now} - ${WINDOW_MS}
      GROUP BY subject_id, ceil((at_ms + ${WINDOW_MS} - ${now}) / 1000);
    SELECT subject_id, sum(slots) AS slots FROM limit_slot
      WHERE subject_id IN (${ids}) AND process <> ${text(request.process)} AND until_ms > ${now} GROUP BY subject_id;`;
}

function rowsOf(request: PermitRequest, of: 'lowered' | 'used'): string {
  return request.subjects
    .flatMap((subject) =>
      subject[of].map(
        ({ id, requests, tokens, ageMs }) =>
          `(${uuid(subject.id)}, ${text(id)}, ${requests}::bigint, ${tokens}::bigint, ${ageMs}::float8)`,
      ),
    )
    .join(', ');
}

function lower(request: PermitRequest): string {
  const rows = rowsOf(request, 'lowered');
  if (!rows) return '';
  return `UPDATE limit_grant g SET requests = least(g.requests, n.requests), tokens = least(g.tokens, n.tokens),
      at_ms = least(g.at_ms, ${now} - n.age)
    FROM (VALUES ${rows}) AS n (subject_id, id, requests, tokens, age)
    WHERE g.subject_id = n.subject_id AND g.id = n.id;`;
}

function use(request: PermitRequest): string {
  const rows = rowsOf(request, 'used');
  if (!rows) return '';
  return `INSERT INTO limit_grant (subject_id, id, requests, tokens, at_ms)
    SELECT subject_id, id, requests, tokens, ${now} - age
    FROM (VALUES ${rows}) AS n (subject_id, id, requests, tokens, age) ON CONFLICT DO NOTHING;`;
}

/** Reads what `enter` answered. */
function readStanding(results: readonly QueryResult[], request: PermitRequest): Stood {
  const found = (column: string) =>
    results.find(({ fields }) => fields?.some(({ name }) => name === column))?.rows ?? [];
  const [last] = found('turn');
  const entries = found('tokens');
  const slots = new Map(found('slots').map((row) => [row.subject_id, Number(row.slots)]));
  return {
    nowMs: Number(found('now')[0]?.now),
    epoch: String(found('epoch')[0]?.epoch),
    last: last ? { turn: Number(last.turn), answer: String(last.answer) } : null,
    subjects: request.subjects.map((subject) => {
      const own = entries
        .filter((row) => row.subject_id === subject.id)
        .map((row) => ({
          requests: Number(row.requests),
          tokens: Number(row.tokens),
          atMs: Number(row.at_ms),
        }));
      return {
        entries: own,
        requests: own.reduce((sum, { requests }) => sum + requests, 0),
        tokens: own.reduce((sum, { tokens }) => sum + tokens, 0),
        slots: subject.slots + (slots.get(subject.id) ?? 0),
      };
    }),
  };
}

/** The second round trip: what was decided, and what to answer should the permit request arrive again. */
function write(request: PermitRequest, { subjects }: Decision, nowMs: number, answer: string): string {
  const process = text(request.process);
  const id = text(`${request.process}.${request.turn}`);
  const grants: string[] = [];
  const slots: string[] = [];
  for (const [position, { calls, granted }] of subjects.entries()) {
    const subject = request.subjects[position];
    if (!subject) continue;
    const spare = granted.requests + granted.tokens > 0;
    const [requests, tokens] = [calls.requests + granted.requests, calls.tokens + granted.tokens];
    if (requests + tokens > 0) {
      grants.push(`(${uuid(subject.id)}, ${id}, ${nowMs + (spare ? permitMs : 0)}, ${requests}, ${tokens})`);
    }
    const held = subject.slots + calls.slots + granted.slots;
    slots.push(`(${uuid(subject.id)}, ${process}, ${held}, ${nowMs + slotLifeMs})`);
  }
  const entered = grants.length
    ? `INSERT INTO limit_grant (subject_id, id, at_ms, requests, tokens) VALUES ${grants.join(', ')};`
    : '';
  return `${entered}
    INSERT INTO limit_slot (subject_id, process, slots, until_ms) VALUES ${slots.join(', ')}
      ON CONFLICT (subject_id, process) DO UPDATE SET slots = excluded.slots, until_ms = excluded.until_ms;
    INSERT INTO limit_turn (workspace_id, process, turn, answer, at_ms)
      VALUES (${uuid(request.workspaceId)}, ${process}, ${request.turn}, ${text(answer)}, ${nowMs})
      ON CONFLICT (workspace_id, process) DO UPDATE
        SET turn = excluded.turn, answer = excluded.answer, at_ms = excluded.at_ms;
    COMMIT`;
}

/** Removes what counts no more; rows that another process is about to remove are left to it. */
function sweep(clock: string): string {
  const old = (table: string, column: string, key: string) => `DELETE FROM ${table} WHERE (${key}) IN (
      SELECT ${key} FROM ${table} WHERE ${column} < (${clock}) - ${KEEP_MS} FOR UPDATE SKIP LOCKED);`;
  return [
    old('limit_grant', 'at_ms', 'subject_id, id'),
    old('limit_slot', 'until_ms', 'subject_id, process'),
    old('limit_turn', 'at_ms', 'workspace_id, process'),
  ].join('\n');
}
