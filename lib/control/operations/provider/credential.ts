import { z } from 'zod';
import { Prisma } from '#generated/client';
import { type Context, change } from '#lib/control/operations/declare';
import { type Field, type FieldFacts, optional } from '#lib/control/operations/field/field';
import { pattern, toggle, words } from '#lib/control/operations/field/kinds';
import { badInput, ControlRefused, notFound, quoted } from '#lib/control/operations/refusal';
import { commonKey } from '#lib/control/operations/secret/common-key';
import { storedCredentialShape } from '#lib/core/schemas/catalogue';
import { credentialContext, open, type SealingKey, seal } from '#lib/platform/sealing';

export const providerField = words(
  { label: 'Provider', help: 'Id of the provider.', placeholder: 'ID', example: 'openai' },
  64,
);

type Stored = z.output<typeof storedCredentialShape>;

/** The value is sealed for this row only, and no answer, audit row or message ever contains it. */
export const setCredential = change({
  name: 'provider.set-credential',
  summary:
    'Sets the credential of a provider: a value, which is stored sealed, or the variable that contains it.',
  reach: 'gateway',
  permission: 'gateway:write',
  fields: {
    provider: providerField,
    value: optional(
      credentialField({
        label: 'Credential',
        help: 'The credential from the provider; it is never shown again.',
      }),
    ),
    env: optional(
      pattern(
        {
          label: 'Variable',
          help: 'The environment variable of the gateway that contains it.',
          example: 'OPENAI_API_KEY',
        },
        /^[A-Za-z_][A-Za-z0-9_]{0,99}$/,
        'must be the name of an environment variable, such as OPENAI_API_KEY',
      ),
    ),
    remove: optional(toggle({ label: 'Remove', help: 'Removes the credential.', example: true })),
  },
  output: z.object({ provider: z.string(), credential: z.enum(['none', 'variable', 'sealed']) }),
  http: [{ method: 'POST', path: '/providers/{provider}/credential' }],
  line: { arguments: ['provider'] },
  text: ({ provider, credential }) =>
    credential === 'none' ? `${provider} has no credential` : `${provider} has a credential (${credential})`,
  run: async (context, { provider, value, env, remove = false }) => {
    if ([value !== undefined, env !== undefined, remove].filter(Boolean).length !== 1)
      throw badInput('value', 'give either the credential or the variable that contains it');
    const { store } = context;
    const was = await lockCredential(context, provider);
    const wanted =
      value === undefined ? (env === undefined ? null : { env }) : await sealedFor(context, provider, value);
    const same = value !== undefined && opened(was, context.sealingKey, provider) === value;
    if (!same) {
      const data = { credential: wanted ?? Prisma.DbNull };
      await store.prisma.provider.update({ where: { id: provider }, data });
    }
    const credential =
      wanted === null ? ('none' as const) : 'env' in wanted ? ('variable' as const) : ('sealed' as const);
    return {
      result: { provider, credential },
      subject: `provider ${provider}`,
      before: { credential: shown(was, 'sealed') },
      after: {
        credential: same ? 'sealed' : shown(wanted, was && 'sealed' in was ? 'sealed anew' : 'sealed'),
      },
      changes: same ? [] : [{ kind: 'catalogue', subject: '' }],
    };
  },
});

/** It is sent in a header. */
function credentialField(facts: FieldFacts): Field<string, true> {
  const schema = z
    .string('a credential must be a string')
    .trim()
    .regex(/^[\x21-\x7e]{1,8192}$/, 'a credential must be one line of printable characters without spaces');
  const shape = { placeholder: 'SECRET', ...facts, secret: true, kind: 'password' as const };
  return { ...shape, required: true, clearable: false, schema, fromText: (text) => text };
}

/** @throws ControlRefused not_found. */
async function lockCredential({ store }: Context<'gateway'>, id: string): Promise<Stored | null> {
  const [row] = await store.query<{ credential: unknown }>(
    'SELECT credential FROM provider WHERE id = $1 FOR UPDATE',
    [id],
  );
  if (row === undefined) throw noProvider(id);
  return storedCredentialShape.safeParse(row.credential).data ?? null;
}

export function noProvider(id: string): ControlRefused {
  return notFound(
    `there is no provider ${quoted(id)}; "gateway provider list" shows all providers`,
    'provider',
  );
}

async function sealedFor({ store, sealingKey }: Context<'gateway'>, id: string, value: string) {
  if (sealingKey !== null)
    return { sealed: seal(value, await commonKey(store, sealingKey), credentialContext(id)) };
  throw new ControlRefused(
    'conflict',
    'this process has no ENCRYPTION_KEY to seal the credential with; set ENCRYPTION_KEY',
  );
}

/** null: it is not sealed, or cannot be opened. */
function opened(stored: Stored | null, key: SealingKey | null, id: string): string | null {
  if (stored === null || 'env' in stored || key === null) return null;
  try {
    return open(stored.sealed, key, credentialContext(id));
  } catch {
    return null;
  }
}

function shown(stored: Stored | null, word: string): unknown {
  if (stored === null) return null;
  return 'env' in stored ? stored : word;
}
