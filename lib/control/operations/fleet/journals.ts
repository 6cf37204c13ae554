import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { listJournalFiles } from '#lib/gateway/settlement/journal/journal-files';
import { listSetAside } from '#lib/gateway/settlement/set-aside';

const journal = z.object({
  process: z.uuid().describe('The process that wrote the journal.'),
  alive: z.boolean().describe('Whether that process was heard from in the last 45 seconds.'),
  files: z.int().describe('Number of files on this machine.'),
  bytes: z.int().describe('Total size, bytes.'),
});

const setAside = z.object({
  kind: z.enum(['damaged', 'rejected']),
  file: z.string(),
  call: z.string().nullable().describe('The call of the record; null: the record cannot be read.'),
  record: z.string().nullable(),
});

const journals = z.object({
  kept: z.boolean().describe('Whether the answering process keeps a journal.'),
  data: z.array(journal),
  setAside: z.array(setAside).describe('Records that could not be posted to the ledger, at most 200.'),
  setAsideAll: z.int().describe('Number of such records.'),
  next: z.null(),
});

const mostSetAside = 200;

export const listJournals = read({
  name: 'fleet.journals',
  summary:
    'Lists the journals on the machine of the answering process, and their records that could not be posted.',
  reach: 'gateway',
  permission: 'gateway:read',
  output: journals,
  http: [{ method: 'GET', path: '/fleet/journals' }],
  line: { columns: ['process', 'alive', 'files', 'bytes'] },
  run: async ({ store, journalDir }) => {
    if (journalDir === null) return { kept: false, data: [], setAside: [], setAsideAll: 0, next: null };
    const byOwner = new Map<string, { files: number; bytes: number }>();
    for (const { ownerId, bytes } of listJournalFiles(journalDir)) {
      const known = byOwner.get(ownerId) ?? { files: 0, bytes: 0 };
      byOwner.set(ownerId, { files: known.files + 1, bytes: known.bytes + bytes });
    }
    const living = await store.query<{ id: string }>(
      'SELECT id::text AS id FROM owner WHERE id = ANY ($1::uuid[]) AND expires_at > now()',
      [[...byOwner.keys()]],
    );
    const alive = new Set(living.map(({ id }) => id));
    const found = listSetAside(journalDir);
    return {
      kept: true,
      data: [...byOwner].map(([process, sizes]) => ({ process, alive: alive.has(process), ...sizes })),
      setAside: found.slice(0, mostSetAside).map(({ callId, ...one }) => ({ ...one, call: callId })),
      setAsideAll: found.length,
      next: null,
    };
  },
});
