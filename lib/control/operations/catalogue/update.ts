import { z } from 'zod';
import { acceptProposals } from '#lib/control/operations/catalogue/accept';
import {
  currentProposals,
  proposalsText,
  shownProposals,
  showProposals,
  standingYes,
} from '#lib/control/operations/catalogue/shown-proposals';
import { type Context, change, read } from '#lib/control/operations/declare';
import { allOptional, optional } from '#lib/control/operations/field/field';
import { choice, origin, toggle, words } from '#lib/control/operations/field/kinds';
import { badInput, ControlRefused } from '#lib/control/operations/refusal';
import { tableAddresses } from '#lib/control/price-tables/addresses';
import { fetchTable } from '#lib/control/price-tables/fetch-table';
import { proposalKinds } from '#lib/control/price-tables/pure/propose';
import { NoTable, readTable } from '#lib/control/price-tables/pure/read-table';
import { type TableId, tableIds } from '#lib/control/price-tables/pure/table';
import { keepFailure, keepTable } from '#lib/control/price-tables/readings';
import { createPools } from '#lib/gateway/upstream/pools';

const updated = shownProposals.extend({
  asked: z.array(z.string()).describe('The addresses that were read.'),
  accepted: z.array(z.string()).describe('New models that a standing yes has accepted, one line each.'),
  failures: z.array(z.string()).describe('Tables that could not be read, and why.'),
});

/** A mutation, because a standing yes may accept new models, and so that the audit log says who asked. */
export const updateCatalogue = change({
  name: 'catalogue.update',
  summary:
    'Reads public price tables and shows what they propose; changes nothing but new models with a standing yes.',
  reach: 'gateway',
  permission: 'gateway:write',
  transaction: { waitMs: 30_000, limitMs: 60_000 },
  fields: {
    from: optional(
      origin({
        label: 'From',
        help: 'A table of models.dev or LiteLLM: a file on this machine, or an address; both public tables if it is left out.',
        placeholder: 'FILE|URL',
        example: { url: tableAddresses['models.dev'] },
      }),
    ),
  },
  output: updated,
  http: [{ method: 'POST', path: '/catalogue/update' }],
  line: {},
  text: (shown) => [...shown.accepted.map((line) => `accepted: ${line}`), proposalsText(shown)].join('\n'),
  failed: ({ failures }) => (failures.length > 0 ? failures.join('\n') : null),
  run: async (context, { from }) => {
    const { store } = context;
    let asked: string[] = [];
    if (from === undefined) asked = tableIds.map((id) => tableAddresses[id]);
    else if ('url' in from) asked = [from.url];
    else await keepTable(store.query, tableIn(from.name, from.text), from.name);
    return {
      result: { ...nothing, asked },
      subject: 'price tables',
      before: { read: null },
      after: { read: from !== undefined && 'name' in from ? [from.name] : asked },
    };
  },
  follow: async (context, { asked }) => {
    const failures: string[] = [];
    for (const address of asked) {
      const failure = await readFrom(context, address);
      if (failure !== null) failures.push(failure);
    }
    const accepted = await acceptStanding(context);
    return { ...(await showProposals(context)), asked, accepted, failures };
  },
});

const nothing = {
  data: [],
  total: 0,
  dismissed: 0,
  tables: [],
  unlisted: [],
  notProposed: {},
  notCompared: [],
  standing: [],
  asked: [],
  accepted: [],
  failures: [],
};

/** @throws ControlRefused that says what is wrong with it. */
function tableIn(name: string, text: string) {
  try {
    return readTable(text);
  } catch (error) {
    throw error instanceof NoTable ? badInput('from', `${name} ${error.message}`) : error;
  }
}

/** Reads a table and keeps it. @returns why it could not be read; null: it was. */
async function readFrom({ store, pools }: Context<'gateway'>, address: string): Promise<string | null> {
  const used = pools ?? createPools();
  try {
    const text = await fetchTable(address, { dispatcher: used.untrusted });
    await keepTable(store.query, readTable(text), address);
    return null;
  } catch (error) {
    if (!(error instanceof NoTable)) throw error;
    const failure = `${address} ${error.message}`;
    const id = publicTable(address);
    if (id !== null) await keepFailure(store.query, id, failure);
    return failure;
  } finally {
    if (pools === null) await used.close();
  }
}

function publicTable(address: string): TableId | null {
  return tableIds.find((id) => tableAddresses[id] === address) ?? null;
}

/** Accepts what a standing yes covers. If somebody else changes the catalogue at that moment, the next update does. */
async function acceptStanding(context: Context<'gateway'>): Promise<string[]> {
  const covered = standingYes(await currentProposals(context.store));
  if (covered.length === 0) return [];
  try {
    const { changes } = await context.also(acceptProposals, { proposals: covered.map(({ id }) => id) });
    return [...changes];
  } catch (error) {
    if (error instanceof ControlRefused && error.code === 'conflict') return [];
    throw error;
  }
}

export const listProposals = read({
  name: 'catalogue.proposals',
  summary:
    'Lists what the price tables propose, as they were last read, with what it would have cost in the last 7 days.',
  reach: 'gateway',
  permission: 'gateway:read',
  fields: allOptional({
    kind: choice({ label: 'Kind', help: 'Only proposals of this kind.' }, proposalKinds),
    provider: words({ label: 'Provider', help: 'Only proposals for this provider.', example: 'openai' }, 64),
    dismissed: toggle({
      label: 'Dismissed',
      help: 'Those that are dismissed, instead of the others.',
      example: true,
    }),
  }),
  output: shownProposals,
  http: [{ method: 'GET', path: '/catalogue/proposals' }],
  line: {},
  text: proposalsText,
  run: (context, input) => showProposals(context, input),
});

export const setDailyUpdate = change({
  name: 'catalogue.daily',
  summary: 'Reads the public price tables every day, or no longer.',
  reach: 'gateway',
  permission: 'gateway:write',
  fields: { daily: toggle({ label: 'Daily', help: 'Whether they are read every day.', example: true }) },
  output: z.object({ daily: z.boolean() }),
  http: [{ method: 'PUT', path: '/catalogue/daily' }],
  line: { arguments: ['daily'] },
  text: ({ daily }) =>
    daily ? 'the public price tables are read every day' : 'the public price tables are read only on request',
  run: async ({ store }, { daily }) => {
    const rows = await store.query<{ daily: boolean }>('SELECT daily FROM price_table FOR UPDATE', []);
    const before = rows.some((row) => row.daily);
    await store.execute('UPDATE price_table SET daily = $1', [daily]);
    return { result: { daily }, subject: 'price tables', before: { daily: before }, after: { daily } };
  },
});
