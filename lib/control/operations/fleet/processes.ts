import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { count as countField } from '#lib/control/operations/field/kinds';
import { formatUsd } from '#lib/core/money';

const dollars = z.string().describe('Dollars as a decimal string.');
const money = {
  granted: dollars.describe('What it may still spend without asking the database, dollars.'),
  held: dollars.describe('Held by running calls, as last reported, dollars.'),
};

const shownProcess = z.object({
  id: z.uuid().describe('Id of the process, as in its journal.'),
  machine: z.string(),
  pid: z.int().describe('Process id on its machine.'),
  version: z.string().nullable().describe('Version of the program; null: not reported.'),
  startedAt: z.iso.datetime(),
  alive: z.boolean().describe('Whether it was heard from in the last 45 seconds.'),
  heardUntil: z.iso.datetime().describe('After this time, others take over what it left.'),
  leases: z.int().describe('Number of its leases.'),
  ...money,
  contentKept: z.int().describe('Calls whose content it kept since it started.'),
  contentLost: z.int().describe('Calls whose content was lost since it started.'),
  contentAnswers: z
    .boolean()
    .nullable()
    .describe('Whether the place for content took what was last written; null: nothing was written yet.'),
  journal: z
    .object({
      file: z.int().describe('Number of the file that is being drained.'),
      bytes: z.string().describe('Up to this byte it is in the database.'),
    })
    .nullable()
    .describe('How far its journal is in the database; null: not at all yet.'),
});
export type ShownProcess = z.output<typeof shownProcess>;

/** Those that settle only in the database share one row, which is not a process. */
const isProcess = 'o.pid > 0';

export const listProcesses = read({
  name: 'fleet.processes',
  summary: 'Lists the gateway processes of all machines with their versions, leases and journals.',
  reach: 'gateway',
  permission: 'gateway:read',
  output: z.object({ data: z.array(shownProcess), next: z.null() }),
  http: [{ method: 'GET', path: '/fleet/processes' }],
  line: { columns: ['machine', 'pid', 'version', 'alive', 'startedAt', 'leases', 'granted', 'held'] },
  run: async ({ store }) => {
    const rows = await store.query<
      Omit<ShownProcess, 'startedAt' | 'heardUntil' | 'journal'> & {
        startedAt: Date;
        heardUntil: Date;
        file: number | null;
        bytes: string | null;
      }
    >(
      `SELECT o.id::text AS id, o.machine, o.pid, o.version, o.started_at AS "startedAt", o.expires_at AS "heardUntil",
         o.expires_at > now() AS alive, o.content_kept::float8 AS "contentKept", o.content_lost::float8 AS "contentLost",
         o.content_answers AS "contentAnswers", l.leases, l.granted, l.held, p.file, p.drained_to::text AS bytes
       FROM owner o
       CROSS JOIN LATERAL (SELECT count(*)::int AS leases, coalesce(sum(granted_nano), 0)::text AS granted,
         coalesce(sum(held_nano), 0)::text AS held FROM lease WHERE owner_id = o.id AND kind = 'workspace') AS l
       LEFT JOIN LATERAL (SELECT file, drained_to FROM journal_position WHERE owner_id = o.id
         ORDER BY file DESC LIMIT 1) AS p ON TRUE
       WHERE ${isProcess} ORDER BY alive DESC, o.machine, o.pid, o.id LIMIT 500`,
      [],
    );
    const data = rows.map(({ file, bytes, startedAt, heardUntil, granted, held, ...row }) => ({
      ...row,
      startedAt: startedAt.toISOString(),
      heardUntil: heardUntil.toISOString(),
      granted: formatUsd(BigInt(granted)),
      held: formatUsd(BigInt(held)),
      journal: file === null ? null : { file, bytes: bytes ?? '0' },
    }));
    return { data, next: null };
  },
});

const shownLease = z.object({
  process: z.uuid(),
  machine: z.string(),
  pid: z.int().describe('Process id on its machine.'),
  alive: z.boolean(),
  kind: z.enum(['workspace', 'key']),
  workspace: z.string().nullable().describe('Slug.'),
  key: z.string().nullable().describe('Id of the key whose caps it is for.'),
  ...money,
  recalledAt: z.iso.datetime().nullable().describe('When it was recalled; null: it was not.'),
});
export type ShownLease = z.output<typeof shownLease>;

const mostLeases = 500;

export const listLeases = read({
  name: 'fleet.leases',
  summary:
    'Lists how much of which workspace each process may spend without asking the database, largest first.',
  reach: 'gateway',
  permission: 'gateway:read',
  fields: {
    limit: optional(
      countField(
        { label: 'Rows', help: 'Maximum number of rows. Default: 100.', unit: 'rows' },
        { min: 1, max: mostLeases },
      ),
    ),
  },
  output: z.object({
    data: z.array(shownLease),
    all: z.int().describe('Total number of leases.'),
    next: z.null(),
  }),
  http: [{ method: 'GET', path: '/fleet/leases' }],
  line: { columns: ['machine', 'pid', 'alive', 'kind', 'workspace', 'key', 'granted', 'held', 'recalledAt'] },
  run: async ({ store }, { limit = 100 }) => {
    const rows = await store.query<Omit<ShownLease, 'recalledAt'> & { recalledAt: Date | null; all: number }>(
      `SELECT l.owner_id::text AS process, o.machine, o.pid, o.expires_at > now() AS alive, l.kind,
         coalesce(w.slug, kw.slug) AS workspace, k.id::text AS key, l.granted_nano::text AS granted,
         l.held_nano::text AS held, l.recalled_at AS "recalledAt", count(*) OVER ()::int AS all
       FROM lease l JOIN owner o ON o.id = l.owner_id
       LEFT JOIN workspace w ON l.kind = 'workspace' AND w.id = l.subject_id
       LEFT JOIN api_key k ON l.kind = 'key' AND k.id = l.subject_id
       LEFT JOIN workspace kw ON kw.id = k.workspace_id
       ORDER BY l.granted_nano DESC, l.owner_id, l.kind, l.subject_id LIMIT $1`,
      [limit],
    );
    const data = rows.map(({ granted, held, recalledAt, all: _, ...row }) => ({
      ...row,
      granted: formatUsd(BigInt(granted)),
      held: formatUsd(BigInt(held)),
      recalledAt: recalledAt?.toISOString() ?? null,
    }));
    return { data, all: rows[0]?.all ?? 0, next: null };
  },
});
