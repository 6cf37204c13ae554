import { readFile } from 'node:fs/promises';
import { actor, type Command, CommandRefused } from '#lib/command/command';
import { getWorkspaceId } from '#lib/command/workspace';
import { readDocument } from '#lib/schemas/document';
import { policyShape } from '#lib/schemas/policy';
import { rollBackPolicy, setPolicy } from '#lib/verbs/policy';

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
      const given = { workspace: slug, policy: wanted, ...(model === undefined ? {} : { model }) };
      const done = await setPolicy(await context.db(), actor, given);
      await context.announce();
      return { json: done, text: `${named(model)} of ${slug} is now version ${done.version}` };
    },
  },
  {
    name: 'policy rollback',
    usage: 'WORKSPACE [--model ID]   (takes the last change back; a second one undoes the first)',
    positionals: ['WORKSPACE'],
    options: ['model'],
    required: [],
    run: async (context, input) => {
      const [slug = ''] = input.positionals;
      const { model } = input.options;
      const given = { workspace: slug, ...(model === undefined ? {} : { model }) };
      const done = await rollBackPolicy(await context.db(), actor, given);
      await context.announce();
      const like = done.restored === null ? 'empty, as before its first' : `as version ${done.restored} was`;
      return {
        json: done,
        text: `${named(model)} of ${slug} is now version ${done.version}, ${like}: ${JSON.stringify(done.policy)}`,
      };
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

function named(model: string | undefined): string {
  return model === undefined ? 'the default policy' : `the policy for ${model}`;
}
