import { readFile } from 'node:fs/promises';
import { actor, type Command, CommandRefused } from '#lib/command/command';
import { getWorkspaceId } from '#lib/command/workspace';
import type { Db } from '#lib/data/db';
import { readDocument } from '#lib/schemas/document';
import { policyShape } from '#lib/schemas/policy';
import type { Policy } from '#lib/snapshot/snapshot';
import { setPolicy } from '#lib/verbs/policy';

export const policy: readonly Command[] = [
  {
    name: 'policy set',
    usage: 'WORKSPACE --file FILE [--model ID]',
    positionals: ['WORKSPACE'],
    options: ['file', 'model'],
    required: ['file'],
    run: async (context, input) => {
      const [slug = ''] = input.positionals;
      const { file = '', model } = input.options;
      const text = await readFile(file, 'utf8').catch(() => null);
      if (text === null)
        throw new CommandRefused(`${file} cannot be read: give a policy file in JSON or YAML`);
      const wanted = readDocument(file, text, policyShape).value;
      const db = await context.db();
      await refuseUnknown(db, wanted);
      const given = { workspace: slug, policy: wanted, ...(model === undefined ? {} : { model }) };
      const done = await setPolicy(db, actor, given);
      await context.announce();
      const what = model === undefined ? 'the default policy' : `the policy for ${model}`;
      return { json: done, text: `${what} of ${slug} is now version ${done.version}` };
    },
  },
  {
    name: 'policy show',
    usage: 'WORKSPACE',
    positionals: ['WORKSPACE'],
    options: [],
    required: [],
    run: async (context, input) => {
      const db = await context.db();
      const { id, slug } = await getWorkspaceId(db, input.positionals[0] ?? '');
      const rows = await db.prisma.policy.findMany({
        where: { workspaceId: id },
        distinct: ['modelId'],
        orderBy: [{ modelId: 'asc' }, { version: 'desc' }],
      });
      const shown = rows.map((row) => ({ model: row.modelId, version: row.version, policy: row.policy }));
      const json = {
        default: shown.find((row) => row.model === '')?.policy ?? {},
        models: Object.fromEntries(shown.filter((row) => row.model).map((row) => [row.model, row.policy])),
        versions: Object.fromEntries(shown.map((row) => [row.model, row.version])),
      };
      const lines = shown.map(
        (row) => `${row.model || 'default'} (version ${row.version}): ${JSON.stringify(row.policy)}`,
      );
      return { json, text: lines.join('\n') || `${slug} has no policy: offers are tried in catalogue order` };
    },
  },
];

/** A name that the catalogue does not hold would do nothing in silence. */
async function refuseUnknown(db: Db, wanted: Policy): Promise<void> {
  const providers = [
    ...(wanted.order ?? []),
    ...(wanted.only ?? []),
    ...(wanted.ignore ?? []),
    ...Object.keys(wanted.weights ?? {}),
  ];
  const models = [...(wanted.fallbackModels ?? [])];
  const known = await db.prisma.provider.findMany({ where: { id: { in: providers } }, select: { id: true } });
  const found = await db.prisma.model.findMany({ where: { id: { in: models } }, select: { id: true } });
  const unknown = [
    ...providers.filter((id) => !known.some((one) => one.id === id)).map((id) => `provider "${id}"`),
    ...models.filter((id) => !found.some((one) => one.id === id)).map((id) => `model "${id}"`),
  ];
  if (unknown.length === 0) return;
  throw new CommandRefused(
    `the catalogue has no ${[...new Set(unknown)].join(', ')}; "gateway catalogue list" has what there is`,
  );
}
