import { z } from 'zod';
import { create, read } from '#lib/control/operations/declare';
import { conflict } from '#lib/control/operations/refusal';
import { runVerification, takeVerification } from '#lib/control/operations/verification/background';

const kept = z.object({
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  tookMs: z.int(),
  error: z.string().nullable().describe('Why it failed to run; null: it ran.'),
  ok: z.boolean(),
  overHold: z.string().describe('By how much charges exceeded their holds in total, dollars.'),
  checks: z.array(
    z.object({
      name: z.string(),
      rows: z.array(z.unknown()).describe('At most 20; amounts are nano-dollars.'),
      broken: z.int().describe('Number of rows that break the invariant, counted up to 100.'),
    }),
  ),
});

const state = z.object({
  running: z.boolean(),
  last: kept.nullable().describe('The last completed verification; null: none.'),
});

/** In the background of the process that gets the request: with a large log it takes minutes. */
export const startVerification = create({
  name: 'verification.start',
  summary: 'Starts a check of every invariant of money and logs in the background; one runs at a time.',
  reach: 'gateway',
  permission: 'gateway:write',
  output: z.object({ running: z.literal(true) }),
  http: [{ method: 'POST', path: '/verification' }],
  run: async ({ store, actor }) => {
    if (!(await takeVerification((sql) => store.execute(sql, [])))) {
      throw conflict('a verification is already running; wait until it ends');
    }
    return {
      result: { running: true as const },
      subject: 'ledger',
      before: null,
      after: { asked: actor.kind },
    };
  },
  follow: async ({ pool }, result) => {
    // Errors are stored as its result; if even that fails, it counts as ended after a minute.
    runVerification(pool, Date.now).catch(() => undefined);
    return result;
  },
});

export const showVerification = read({
  name: 'verification.show',
  summary: 'Shows whether a verification is running, and the result of the last one.',
  reach: 'gateway',
  permission: 'gateway:read',
  output: state,
  http: [{ method: 'GET', path: '/verification' }],
  line: {},
  failed: ({ last }) => (last === null || last.ok ? null : 'the last verification found broken invariants'),
  run: async ({ store }) => {
    const [duty] = await store.query<{ running: boolean; result: unknown }>(
      `SELECT coalesce(taken_until > now(), false) AS running, result FROM fleet_duty WHERE name = 'verify'`,
      [],
    );
    return { running: duty?.running ?? false, last: kept.safeParse(duty?.result).data ?? null };
  },
});

export const verificationOperations = [startVerification, showVerification];
