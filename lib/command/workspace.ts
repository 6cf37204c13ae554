import { actor, type Command, CommandRefused, pick, readSwitch } from '#lib/command/command';
import { fieldLines } from '#lib/command/text';
import type { Db } from '#lib/data/db';
import { findWorkspace } from '#lib/queries/workspaces';
import { createWorkspace, setWorkspace } from '#lib/verbs/workspace';

const settings = {
  credit: 'credit',
  'time-zone': 'timeZone',
  rpm: 'rpm',
  tpm: 'tpm',
  concurrency: 'concurrency',
} as const;
const settingsUsage =
  '[--credit USD] [--time-zone ZONE] [--rpm N] [--tpm N] [--concurrency N] [--strict on|off]';
const settingsOptions = [...Object.keys(settings), 'strict'];

/** @throws CommandRefused when there is no workspace with this slug. */
export async function getWorkspaceId(db: Db, slug: string): Promise<{ id: string; slug: string }> {
  const found = await db.prisma.workspace.findUnique({ where: { slug }, select: { id: true, slug: true } });
  if (!found) throw new CommandRefused(`there is no workspace "${slug}"; check its slug`);
  return found;
}

export const workspace: readonly Command[] = [
  {
    name: 'workspace create',
    usage: `--name N ${settingsUsage}`,
    positionals: [],
    options: ['name', ...settingsOptions],
    required: ['name'],
    run: async (context, input) => {
      const strict = readSwitch(input, 'strict');
      const made = await createWorkspace(await context.db(), actor, {
        name: input.options.name ?? '',
        ...pick(input, settings),
        ...(strict === undefined ? {} : { strict }),
      });
      await context.announce();
      return { json: made, text: `workspace ${made.slug} created (${made.id})` };
    },
  },
  {
    name: 'workspace set',
    usage: `SLUG [--name N] ${settingsUsage} [--suspended on|off]   ("none" removes a limit)`,
    positionals: ['SLUG'],
    options: ['name', ...settingsOptions, 'suspended'],
    required: [],
    run: async (context, input) => {
      const strict = readSwitch(input, 'strict');
      const suspended = readSwitch(input, 'suspended');
      const done = await setWorkspace(await context.db(), actor, {
        workspace: input.positionals[0] ?? '',
        ...pick(input, { name: 'name', ...settings }),
        ...(strict === undefined ? {} : { strict }),
        ...(suspended === undefined ? {} : { suspended }),
      });
      await context.announce();
      return { json: done, text: `workspace ${done.slug} changed` };
    },
  },
  {
    name: 'workspace show',
    usage: 'SLUG',
    positionals: ['SLUG'],
    options: [],
    required: [],
    run: async (context, input) => {
      const [slug = ''] = input.positionals;
      const found = await findWorkspace(await context.db(), slug);
      if (!found) throw new CommandRefused(`there is no workspace "${slug}"; check its slug`);
      const keys = found.keys.map((key) => `${key.name} ${key.display} (${key.status}, ${key.id})`);
      return { json: found, text: fieldLines({ ...found, keys }) };
    },
  },
];
