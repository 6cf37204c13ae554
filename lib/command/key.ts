import { actor, type Command, CommandRefused, pick } from '#lib/command/command';
import { fieldLines } from '#lib/command/text';
import type { Db } from '#lib/data/db';
import { findKey } from '#lib/queries/keys';
import { createKey, rotateKey } from '#lib/verbs/key-create';
import { setKey } from '#lib/verbs/key-set';
import {
  disableKey,
  enableKey,
  exhaustKey,
  type KeyState,
  restoreKey,
  revokeKey,
} from '#lib/verbs/key-state';

const settings = {
  models: 'models',
  'max-output-tokens': 'maxOutputTokens',
  'daily-cap': 'dailyCap',
  'd7-cap': 'd7Cap',
  'd30-cap': 'd30Cap',
  quota: 'quota',
  rpm: 'rpm',
  tpm: 'tpm',
  concurrency: 'concurrency',
  expires: 'expiresAt',
} as const;
const settingsUsage =
  '[--models a,b] [--max-output-tokens N] [--daily-cap USD] [--d7-cap USD] [--d30-cap USD] [--quota USD] ' +
  '[--rpm N] [--tpm N] [--concurrency N] [--expires ISO]';

/** Slugs that the catalogue does not hold would lock the key out in silence. */
async function refuseUnknownModels(db: Db, models: string | undefined): Promise<void> {
  if (models === undefined || models === 'none') return;
  const slugs = models.split(',').map((slug) => slug.trim());
  const known = await db.prisma.model.findMany({ where: { id: { in: slugs } }, select: { id: true } });
  const unknown = slugs.filter((slug) => slug !== '' && !known.some((model) => model.id === slug));
  if (unknown.length === 0) return;
  throw new CommandRefused(
    `no model "${unknown.join('", "')}" in the catalogue; "gateway catalogue list" has them`,
  );
}

type Transition = (db: Db, actor: string, input: { id: string }) => Promise<KeyState>;

function transition(verb: string, deed: Transition): Command {
  return {
    name: `key ${verb}`,
    usage: 'ID',
    positionals: ['ID'],
    options: [],
    required: [],
    run: async (context, input) => {
      const state = await deed(await context.db(), actor, { id: input.positionals[0] ?? '' });
      await context.announce();
      const flag = state.quotaExhausted ? ', quota exhausted' : '';
      return { json: state, text: `key ${state.id} is ${state.status}${flag}` };
    },
  };
}

export const key: readonly Command[] = [
  {
    name: 'key create',
    usage: `--workspace SLUG --name N ${settingsUsage}`,
    positionals: [],
    options: ['workspace', 'name', ...Object.keys(settings)],
    required: ['workspace', 'name'],
    run: async (context, input) => {
      const db = await context.db();
      await refuseUnknownModels(db, input.options.models);
      const made = await createKey(
        db,
        actor,
        {
          workspace: input.options.workspace ?? '',
          name: input.options.name ?? '',
          ...pick(input, settings),
        },
        context.env().keyPepper,
      );
      await context.announce();
      return { json: made, text: `key ${made.id} created; it is shown this once:\n${made.key}` };
    },
  },
  {
    name: 'key set',
    usage: `ID [--name N] ${settingsUsage}   ("none" removes)`,
    positionals: ['ID'],
    options: ['name', ...Object.keys(settings)],
    required: [],
    run: async (context, input) => {
      const db = await context.db();
      await refuseUnknownModels(db, input.options.models);
      const done = await setKey(db, actor, {
        id: input.positionals[0] ?? '',
        ...pick(input, { name: 'name', ...settings }),
      });
      await context.announce();
      return { json: done, text: `key ${done.id} changed` };
    },
  },
  {
    name: 'key show',
    usage: 'ID',
    positionals: ['ID'],
    options: [],
    required: [],
    run: async (context, input) => {
      const [id = ''] = input.positionals;
      const found = await findKey(await context.db(), id);
      if (!found) throw new CommandRefused(`there is no API key "${id}"; check its id`);
      return { json: found, text: fieldLines({ ...found, models: found.models ?? 'all' }) };
    },
  },
  transition('enable', enableKey),
  transition('disable', disableKey),
  transition('exhaust', exhaustKey),
  transition('restore', restoreKey),
  transition('revoke', revokeKey),
  {
    name: 'key rotate',
    usage: 'ID [--overlap SECONDS]',
    positionals: ['ID'],
    options: ['overlap'],
    required: [],
    run: async (context, input) => {
      const overlap = input.options.overlap ?? '0';
      if (!/^\d+$/.test(overlap)) throw new CommandRefused('--overlap: write whole seconds, like 3600');
      const scope = { id: input.positionals[0] ?? '', overlapSeconds: Number(overlap) };
      const made = await rotateKey(await context.db(), actor, scope, context.env().keyPepper);
      await context.announce();
      return { json: made, text: `key ${made.id} has a new secret; it is shown this once:\n${made.key}` };
    },
  },
];
