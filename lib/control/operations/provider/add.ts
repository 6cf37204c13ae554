import { z } from 'zod';
import { create } from '#lib/control/operations/declare';
import { type Field, type FieldFacts, optional } from '#lib/control/operations/field/field';
import { choice, name as nameOf, pattern, words } from '#lib/control/operations/field/kinds';
import { credentialValue } from '#lib/control/operations/provider/cloud-fields';
import {
  credentialField,
  credentialKind,
  kindOf,
  sealedFor,
  shownSecret,
  variableField,
} from '#lib/control/operations/provider/credential';
import { badInput, conflict, quoted } from '#lib/control/operations/refusal';
import { familiesAt, type Preset, presets } from '#lib/control/providers/presets';
import { defaultCredential } from '#lib/core/facts/pool';
import { address } from '#lib/core/schemas/catalogue';
import { simulatedProvider } from '#lib/core/simulated';

/** Two operators who add the same provider at once: one of them is told that it exists. */
export const providerTransaction = { waitMs: 10_000, limitMs: 30_000, table: 'provider' } as const;

/** The versioned root to which the path of an operation is added (contract: operations/catalogue-address). */
export function addressField(facts: FieldFacts): Field<string, true> {
  return { ...words(facts, 1000), schema: z.string().trim().max(1000).pipe(address) };
}

export const displayName = nameOf({
  label: 'Name',
  help: "Shown to people; the preset's if it is left out.",
  example: 'Ollama in the lab',
});

export const addProvider = create({
  name: 'provider.add',
  summary:
    'Adds a provider from a preset, with its address and credential; it gets no calls before it has models.',
  reach: 'gateway',
  permission: 'gateway:write',
  transaction: providerTransaction,
  fields: {
    preset: choice(
      {
        label: 'Preset',
        help: 'What kind of provider it is; "gateway provider presets" lists them.',
        placeholder: 'PRESET',
      },
      presets.map(({ id }) => id),
    ),
    id: optional(
      pattern(
        {
          label: 'Id',
          help: "Part of slugs, and what logs and policies call it; it cannot be changed. The preset's if it is left out.",
          placeholder: 'ID',
          example: 'ollama-lab',
        },
        /^[a-z0-9][a-z0-9._-]{0,63}$/,
        'must have at most 64 lower-case letters, digits, ".", "_" or "-", and begin with a letter or digit',
      ),
    ),
    name: optional(displayName),
    url: optional(
      addressField({
        label: 'Address',
        help: "Where the provider is; the preset's usual address if it is left out.",
        placeholder: 'URL',
        example: 'http://localhost:11434/v1',
      }),
    ),
    value: optional(
      credentialField({
        label: 'Credential',
        help: 'The key from the provider, or of a cloud the JSON of an identity, or "default" for that of the machine; it is stored encrypted and never shown again.',
      }),
    ),
    env: optional(variableField),
  },
  output: z.object({
    provider: z.string(),
    name: z.string(),
    families: z.record(z.string(), z.string()).describe('The address of each protocol.'),
    credential: credentialKind,
  }),
  http: [{ method: 'POST', path: '/providers' }],
  line: { arguments: ['preset'] },
  text: ({ provider, families }) =>
    `${provider} at ${Object.values(families)[0]} is added; "gateway provider discover ${provider}" lists its models`,
  run: async (context, { preset: presetId, value, env, ...given }) => {
    const preset = presetOf(presetId);
    const id = given.id ?? preset.id;
    const name = given.name ?? preset.name;
    const url = given.url ?? preset.url;
    if (url === null) throw badInput('url', `${preset.name} has no usual address; give yours`);
    if (value !== undefined && env !== undefined)
      throw badInput('env', 'give the credential, or the variable that contains it, not both');
    if (preset.credential === 'required' && value === undefined && env === undefined)
      throw badInput('value', `${preset.name} needs a credential; give it, or the variable that contains it`);
    if (id === simulatedProvider)
      throw badInput('id', `"${simulatedProvider}" is the id of the simulated provider; choose another one`);
    const { prisma } = context.store;
    if (await prisma.provider.findUnique({ where: { id }, select: { id: true } }))
      throw conflict(
        given.id === undefined
          ? `there is already a provider ${quoted(id)}: set its credential and discover its models there, or give another id to add a second one`
          : `there is already a provider ${quoted(id)}; choose another id`,
        'id',
      );
    if (preset.ownPath && new URL(url).pathname === '/')
      throw badInput('url', `the address of ${preset.name} has a path; give the whole address`);
    const families = familiesAt(preset, url);
    const auth = preset.auth ?? null;
    const stored =
      value === undefined
        ? env === undefined
          ? { none: true as const }
          : { env }
        : await sealedFor(context, {
            provider: id,
            name: defaultCredential,
            value: credentialValue(auth, value),
          });
    const { credentialHeaders = {}, variants = {}, pricesFrom = null } = preset;
    const cloud = { ...(auth && { auth }), variants };
    await prisma.provider.create({
      data: { id, name, families, credential: stored, credentialHeaders, ...cloud, pricesFrom },
    });
    return {
      result: { provider: id, name, families, credential: kindOf(stored) },
      subject: `provider ${id}`,
      before: null,
      after: { preset: preset.id, name, families, pricesFrom, credential: shownSecret(stored, 'sealed') },
      changes: [{ kind: 'catalogue', subject: '' }],
    };
  },
});

function presetOf(id: string): Preset {
  const found = presets.find((preset) => preset.id === id);
  if (found) return found;
  throw badInput('preset', 'is not a preset');
}
