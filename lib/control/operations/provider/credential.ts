import { z } from 'zod';
import { Prisma } from '#generated/client';
import { type Context, change } from '#lib/control/operations/declare';
import { type Field, type FieldFacts, optional } from '#lib/control/operations/field/field';
import {
  count,
  limit,
  models as modelsField,
  pattern,
  toggle,
  words,
} from '#lib/control/operations/field/kinds';
import { refuseUnknownModels } from '#lib/control/operations/known-models';
import { cloudFields, cloudValue, credentialValue } from '#lib/control/operations/provider/cloud-fields';
import { badInput, ControlRefused, conflict, notFound, quoted } from '#lib/control/operations/refusal';
import { commonKey } from '#lib/control/operations/secret/common-key';
import {
  credentialName,
  defaultCredential,
  mostCredentials,
  priorities,
  weights,
} from '#lib/core/facts/pool';
import { type Auth, storedAuthShape, storedCredentialShape } from '#lib/core/schemas/catalogue';
import { credentialContext, open, type SealingKey, seal } from '#lib/platform/sealing';

export const providerField = words(
  { label: 'Provider', help: 'Id of the provider.', placeholder: 'ID', example: 'openai' },
  64,
);

export const nameField = pattern(
  {
    label: 'Name',
    help: `Which of the provider's credentials; "${defaultCredential}" if it is left out. The call log shows it.`,
    placeholder: 'NAME',
    example: 'team-2',
  },
  credentialName,
  'must have at most 40 lower-case letters, digits, ".", "_" or "-", and begin with a letter or digit',
);

export const variableField = pattern(
  {
    label: 'Variable',
    help: 'The environment variable of the gateway that contains it.',
    example: 'OPENAI_API_KEY',
  },
  /^[A-Za-z_][A-Za-z0-9_]{0,99}$/,
  'must be the name of an environment variable, such as OPENAI_API_KEY',
);

/** Where a credential is stored; "not needed": the provider asks for none. */
export const credentialKind = z.enum(['none', 'variable', 'sealed', 'not needed']);
type Stored = z.output<typeof storedCredentialShape>;

/** The value is sealed for this credential only, and no answer, audit row or message ever contains it. */
export const setCredential = change({
  name: 'provider.set-credential',
  summary:
    'Adds or changes a credential of a provider: a value, which is stored sealed, or the variable that contains it.',
  reach: 'gateway',
  permission: 'gateway:write',
  // A catalogue file that is applied at the same time writes the same rows.
  transaction: { waitMs: 10_000, limitMs: 30_000, table: 'provider' },
  fields: {
    provider: providerField,
    name: optional(nameField),
    value: optional(
      credentialField({
        label: 'Credential',
        help: 'The API key from the provider, or the JSON of an identity in its cloud; it is never shown again.',
      }),
    ),
    env: optional(variableField),
    notNeeded: optional(
      toggle({
        label: 'Not needed',
        help: 'The provider asks for no credential, as Ollama does.',
        example: true,
      }),
    ),
    ...cloudFields,
    weight: optional(
      count(
        {
          label: 'Weight',
          unit: 'shares',
          help: 'Its share of the calls among credentials of its priority; 1 if not set.',
          example: 2,
        },
        weights,
      ),
    ),
    priority: optional(
      count(
        {
          label: 'Priority',
          unit: 'rank',
          help: 'Credentials with the lowest number are used first, others only if none of those can serve; 1 if not set.',
          example: 2,
        },
        priorities,
      ),
    ),
    rpm: optional(
      limit({
        label: 'Requests a minute',
        help: 'Most requests by it in any minute, over all processes; then others serve.',
        unit: 'requests a minute',
        example: 500,
      }),
    ),
    tpm: optional(
      limit({
        label: 'Tokens a minute',
        help: 'Most tokens by it in any minute, over all processes; then others serve.',
        unit: 'tokens a minute',
        example: 200_000,
      }),
    ),
    models: optional(modelsField({ label: 'Models', help: 'The models that it may serve.' })),
    withdrawn: optional(
      toggle({
        label: 'Withdrawn',
        help: 'It gets no new calls; jobs, files and stored responses that it made are still reached with it.',
        example: true,
      }),
    ),
    remove: optional(
      toggle({
        label: 'Remove',
        help: 'Deletes the credential; what it made is then looked for with the others.',
        example: true,
      }),
    ),
  },
  output: z.object({
    provider: z.string(),
    name: z.string(),
    credential: credentialKind,
  }),
  http: [{ method: 'POST', path: '/providers/{provider}/credential' }],
  line: { arguments: ['provider'] },
  text: ({ provider, name, credential }) =>
    credential === 'none'
      ? `${provider} has no credential ${name}`
      : `${provider} has the credential ${name} (${credential})`,
  run: async (context, { provider, name = defaultCredential, env, ...input }) => {
    const { weight, priority, rpm, tpm, models: served, withdrawn: out, value: key, ...others } = input;
    const { remove = false, notNeeded = false, ...parts } = others;
    const settings = { weight, priority, rpm, tpm, models: served, withdrawn: out };
    const auth = await readAuth(context, provider);
    const made = cloudValue(auth, parts);
    if (key !== undefined && made !== undefined)
      throw badInput('value', 'give either the credential or the parts of one');
    const value = key === undefined ? made : credentialValue(auth, key);
    const given = [value !== undefined, env !== undefined, notNeeded, remove].filter(Boolean).length;
    const sets = Object.values(settings).some((setting) => setting !== undefined);
    if (given > 1 || (given === 0 && !sets) || (remove && sets))
      throw badInput('value', 'give the credential, the variable that contains it, or a setting to change');
    const { store, sealingKey, nowMs } = context;
    const was = await lockCredential(context, provider, name);
    if (was.secret === null && given === 0)
      throw badInput(
        'value',
        'this credential does not exist yet: give its value, or the variable that contains it',
      );
    await refuseUnknownModels(context, settings.models);
    const id = { providerId_name: { providerId: provider, name } };
    const same = value !== undefined && opened(was.secret, sealingKey, provider, name) === value;
    let secret = was.secret;
    if (remove) secret = null;
    else if (notNeeded) secret = { none: true };
    else if (env !== undefined) secret = { env };
    else if (value !== undefined && !same) secret = await sealedFor(context, { provider, name, value });
    const before = { ...was.settings, credential: shownSecret(was.secret, 'sealed') };
    const { models, withdrawn, ...numbers } = settings;
    const wanted = {
      ...was.settings,
      ...Object.fromEntries(Object.entries(numbers).filter(([, number]) => number !== undefined)),
      ...(models === undefined ? {} : { models }),
      ...(withdrawn === undefined ? {} : { withdrawn }),
    };
    const replaced = value !== undefined && !same && was.secret !== null && 'sealed' in was.secret;
    const after = { ...wanted, credential: shownSecret(secret, replaced ? 'replaced' : 'sealed') };
    const data = {
      weight: wanted.weight,
      priority: wanted.priority,
      rpm: wanted.rpm,
      tpm: wanted.tpm,
      models: wanted.models ?? [],
      ...(wanted.withdrawn === was.settings.withdrawn
        ? {}
        : { withdrawnAt: wanted.withdrawn ? new Date(nowMs) : null }),
    };
    const stored = secret ?? Prisma.DbNull;
    if (name === defaultCredential && secret !== was.secret)
      await store.prisma.provider.update({ where: { id: provider }, data: { credential: stored } });
    if (remove) await store.prisma.credential.deleteMany({ where: { providerId: provider, name } });
    else if (sets || name !== defaultCredential) {
      const row = name === defaultCredential ? data : { ...data, secret: stored };
      await store.prisma.credential.upsert({
        where: id,
        create: { providerId: provider, name, ...row },
        update: row,
      });
    }
    const changed = JSON.stringify(before) !== JSON.stringify(after);
    return {
      result: { provider, name, credential: kindOf(secret) },
      subject: `provider ${provider}`,
      before,
      after: remove ? { ...before, credential: null } : after,
      ...(changed && name !== defaultCredential ? { detail: { name } } : {}),
      changes: changed ? [{ kind: 'catalogue', subject: '' }] : [],
    };
  },
});

/** How credentials of the provider are used; null: each is sent as it is. @throws ControlRefused not_found. */
async function readAuth({ store }: Context<'gateway'>, id: string): Promise<Auth | null> {
  const [row] = await store.query<{ auth: unknown }>('SELECT auth FROM provider WHERE id = $1', [id]);
  if (row === undefined) throw noProvider(id);
  return storedAuthShape.nullable().parse(row.auth);
}

/** An API key, which is sent in a header, or JSON: `credentialValue` says which of them a provider takes. */
export function credentialField(facts: FieldFacts): Field<string, true> {
  const schema = z
    .string('a credential must be a string')
    .trim()
    .regex(
      /^([\x21-\x7e]{1,8192}|\{[\x20-\x7e\s]{1,16384}\})$/,
      'a credential must be one line of printable characters without spaces',
    );
  const shape = { placeholder: 'SECRET', ...facts, secret: true, kind: 'password' as const };
  return { ...shape, required: true, clearable: false, schema, fromText: (text) => text };
}

/**
 * Locks the whole pool, so that no two changes of it run at once.
 * @returns a credential that does not exist: without a secret, with the settings that a new one gets.
 * @throws ControlRefused not_found: there is no such provider; conflict: its pool is full.
 */
async function lockCredential({ store }: Context<'gateway'>, providerId: string, name: string) {
  const [provider] = await store.query<{ credential: unknown }>(
    'SELECT credential FROM provider WHERE id = $1 FOR UPDATE',
    [providerId],
  );
  if (provider === undefined) throw noProvider(providerId);
  const pool = await store.prisma.credential.findMany({ where: { providerId } });
  const row = pool.find((one) => one.name === name);
  if (!row && pool.length >= mostCredentials)
    throw conflict(`a provider may have at most ${mostCredentials} credentials; remove one first`, 'name');
  const json = name === defaultCredential ? provider.credential : row?.secret;
  const secret: Stored | null = storedCredentialShape.safeParse(json).data ?? null;
  const { weight = 1, priority = 1, rpm = null, tpm = null, models = [], withdrawnAt = null } = row ?? {};
  const settings = {
    weight,
    priority,
    rpm,
    tpm,
    models: models.length > 0 ? models : null,
    withdrawn: withdrawnAt !== null,
  };
  return { secret, settings };
}

export function noProvider(id: string): ControlRefused {
  return notFound(
    `there is no provider ${quoted(id)}; "gateway provider list" shows all providers`,
    'provider',
  );
}

export async function sealedFor(
  { store, sealingKey }: Context<'gateway'>,
  { provider, name, value }: { readonly provider: string; readonly name: string; readonly value: string },
) {
  if (sealingKey !== null)
    return { sealed: seal(value, await commonKey(store, sealingKey), credentialContext(provider, name)) };
  throw new ControlRefused(
    'conflict',
    'this process has no ENCRYPTION_KEY to seal the credential with; set ENCRYPTION_KEY',
  );
}

/** null: it is not sealed, or cannot be opened. */
function opened(
  stored: Stored | null,
  key: SealingKey | null,
  provider: string,
  name: string,
): string | null {
  if (stored === null || !('sealed' in stored) || key === null) return null;
  try {
    return open(stored.sealed, key, credentialContext(provider, name));
  } catch {
    return null;
  }
}

export function kindOf(stored: Stored | null): z.output<typeof credentialKind> {
  if (stored === null) return 'none';
  if ('none' in stored) return 'not needed';
  return 'env' in stored ? 'variable' : 'sealed';
}

export function shownSecret(stored: Stored | null, word: string): unknown {
  if (stored === null) return null;
  if ('none' in stored) return 'not needed';
  return 'env' in stored ? stored : word;
}
