import type { QueryResult } from 'pg';
import type { Decision, Standing } from '#lib/gateway/limits/pure/decide-permits';
import {
  type PermitRequest,
  permitMs,
  slotLifeMs,
  type Weight,
} from '#lib/gateway/limits/pure/permit-request';
import { WINDOW_MS } from '#lib/gateway/limits/pure/window';
import { text, uuid } from '#lib/platform/data/literals';

/** What PostgreSQL knows about a permit request, once its news are in. */
export interface Stood {
  readonly nowMs: number;
  readonly epoch: string;
  /** What the process was answered last. */
  readonly last: { readonly turn: number; readonly answer: string } | null;
  /** By position of the subject; what counts, summed up by the second in which it leaves the window. */
  readonly subjects: readonly (Standing & { readonly entries: readonly (Weight & { atMs: number })[] })[];
}

/** The server's clock, ms: no process's clock admits anything. */
export const clockOf = { server: 'extract(epoch FROM clock_timestamp()) * 1000' };

const now = `current_setting('gateway.now')::float8`;
/** What nobody has asked for so long is forgotten; longer than any window and the permits in it. */
const KEEP_MS = 65_000;

/**
 * The first round trip: takes the workspace's turn, enters what the process tells, and reads how everything stands.
 * News are facts: they go in whatever becomes of the permit request, and twice they change nothing.
 */
export function enter(ask: PermitRequest, clock: string): string {
  const workspace = uuid(ask.workspaceId);
  const ids = ask.subjects.map(({ id }) => uuid(id)).join(', ');
  return `BEGIN; SET LOCAL lock_timeout = '1s'; SET LOCAL statement_timeout = '2s';
    SET LOCAL idle_in_transaction_session_timeout = '5s';
    SELECT pg_advisory_xact_lock(hashtextextended(${text(ask.workspaceId)}, 60));
    SELECT set_config('gateway.now', (${clock})::float8::text, true) AS now;
    INSERT INTO limit_turn (workspace_id, process, turn, answer, at_ms) VALUES (${workspace}, '', 0, ${now}::text, ${now})
      ON CONFLICT (workspace_id, process) DO UPDATE SET at_ms = excluded.at_ms RETURNING answer AS epoch;
    ${lower(ask)} ${use(ask)}
    SELECT turn, answer FROM limit_turn WHERE workspace_id = ${workspace} AND process = ${text(ask.process)};
    SELECT subject_id, max(at_ms) AS at_ms, sum(requests) AS requests, sum(tokens) AS tokens
      FROM limit_grant WHERE subject_id IN (${ids}) AND at_ms > ${now} - ${WINDOW_MS}
      GROUP BY subject_id, ceil((at_ms + ${WINDOW_MS} - ${now}) / 1000);
    SELECT subject_id, sum(slots) AS slots FROM limit_slot
      WHERE subject_id IN (${ids}) AND process <> ${text(ask.process)} AND until_ms > ${now} GROUP BY subject_id;`;
}

function rowsOf(ask: PermitRequest, of: 'lowered' | 'used'): string {
  return ask.subjects
    .flatMap((subject) =>
      subject[of].map(
        ({ id, requests, tokens, ageMs }) =>
          `(${uuid(subject.id)}, ${text(id)}, ${requests}::bigint, ${tokens}::bigint, ${ageMs}::float8)`,
      ),
    )
    .join(', ');
}

function lower(ask: PermitRequest): string {
  const rows = rowsOf(ask, 'lowered');
  if (!rows) return '';
  return `UPDATE limit_grant g SET requests = least(g.requests, n.requests), tokens = least(g.tokens, n.tokens),
      at_ms = least(g.at_ms, ${now} - n.age)
    FROM (VALUES ${rows}) AS n (subject_id, id, requests, tokens, age)
    WHERE g.subject_id = n.subject_id AND g.id = n.id;`;
}

function use(ask: PermitRequest): string {
  const rows = rowsOf(ask, 'used');
  if (!rows) return '';
  return `INSERT INTO limit_grant (subject_id, id, requests, tokens, at_ms)
    SELECT subject_id, id, requests, tokens, ${now} - age
    FROM (VALUES ${rows}) AS n (subject_id, id, requests, tokens, age) ON CONFLICT DO NOTHING;`;
}

/** Reads what `enter` answered. */
export function readStanding(results: readonly QueryResult[], ask: PermitRequest): Stood {
  const found = (column: string) =>
    results.find(({ fields }) => fields?.some(({ name }) => name === column))?.rows ?? [];
  const [last] = found('turn');
  const entries = found('tokens');
  const slots = new Map(found('slots').map((row) => [row.subject_id, Number(row.slots)]));
  return {
    nowMs: Number(found('now')[0]?.now),
    epoch: String(found('epoch')[0]?.epoch),
    last: last ? { turn: Number(last.turn), answer: String(last.answer) } : null,
    subjects: ask.subjects.map((subject) => {
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
export function write(ask: PermitRequest, { subjects }: Decision, nowMs: number, answer: string): string {
  const process = text(ask.process);
  const id = text(`${ask.process}.${ask.turn}`);
  const grants: string[] = [];
  const slots: string[] = [];
  for (const [position, { calls, granted }] of subjects.entries()) {
    const subject = ask.subjects[position];
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
      VALUES (${uuid(ask.workspaceId)}, ${process}, ${ask.turn}, ${text(answer)}, ${nowMs})
      ON CONFLICT (workspace_id, process) DO UPDATE
        SET turn = excluded.turn, answer = excluded.answer, at_ms = excluded.at_ms;
    COMMIT`;
}

/** Removes what counts no more; rows that another process is about to remove are left to it. */
export function sweep(clock: string): string {
  const old = (table: string, column: string, key: string) => `DELETE FROM ${table} WHERE (${key}) IN (
      SELECT ${key} FROM ${table} WHERE ${column} < (${clock}) - ${KEEP_MS} FOR UPDATE SKIP LOCKED);`;
  return [
    old('limit_grant', 'at_ms', 'subject_id, id'),
    old('limit_slot', 'until_ms', 'subject_id, process'),
    old('limit_turn', 'at_ms', 'workspace_id, process'),
  ].join('\n');
}
