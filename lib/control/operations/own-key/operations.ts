import { z } from 'zod';
import { refuseAddress } from '#lib/control/alerts/address';
import { type Context, change, create, read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { isUuid } from '#lib/control/operations/field/kinds';
import { limitOf, pageOf, paging } from '#lib/control/operations/field/paging';
import { refuseUnknownModels } from '#lib/control/operations/known-models';
import {
  newOwnKey,
  ownKeyId,
  ownKeySettings,
  type ShownOwnKey,
  secretField,
  shownOwnKey,
} from '#lib/control/operations/own-key/fields';
import { tryKey } from '#lib/control/operations/own-key/try-key';
import { noProvider } from '#lib/control/operations/provider/credential';
import { badInput, ControlRefused, conflict, notFound, quoted } from '#lib/control/operations/refusal';
import { inScope } from '#lib/control/operations/scope';
import { commonKey } from '#lib/control/operations/secret/common-key';
import { readCloudKey } from '#lib/core/facts/cloud-key';
import type { OwnUse } from '#lib/core/facts/credential';
import { ownUses } from '#lib/core/facts/credential';
import { storedAuthShape, storedCredentialShape } from '#lib/core/schemas/catalogue';
import { simulatedProvider } from '#lib/core/simulated';
import { newRowId } from '#lib/platform/data/row-id';
import { ownKeyContext, seal } from '#lib/platform/sealing';

const ownKeys = '/workspaces/{workspace}/own-keys';
const mostOwnKeys = 50;

const tried = z.object({
  id: z.uuid(),
  failure: z.string().nullable().describe('Why its test failed; null: it passed, and is in use.'),
});
const failedTest = ({ failure }: z.output<typeof tried>) =>
  failure === null ? null : `the key is not used: ${failure}`;

export const createOwnKey = create({
  name: 'own-key.create',
  summary:
    "Stores a workspace's own API key for a provider, after a test call; calls by it cost only a fee, if any.",
  reach: 'workspace',
  permission: 'own-keys:write',
  fields: { ...newOwnKey, ...ownKeySettings },
  output: tried,
  http: [{ method: 'POST', path: ownKeys }],
  line: { arguments: ['provider', 'name'] },
  text: ({ id }) => `own key ${id} is stored and in use`,
  failed: failedTest,
  run: async (context, { provider, name, value, address = null, use = 'first', models = null }) => {
    const { store, scope } = context;
    const { workspaceId } = scope;
    refuseUnlessAllowed(context, address);
    await refuseProvider(context, provider, value);
    if (address !== null) {
      const refused = await refuseAddress(address);
      if (refused !== null) throw badInput('address', refused);
      if (new URL(address).search !== '' || new URL(address).hash !== '')
        throw badInput(
          'address',
          'remove everything from "?" or "#" on; give the root, such as https://models.example.com/v1',
        );
    }
    await refuseUnknownModels(context, models);
    await store.query('SELECT 1 AS one FROM workspace WHERE id = $1::uuid FOR NO KEY UPDATE', [workspaceId]);
    const known = await store.prisma.ownKey.findMany({ where: { workspaceId }, select: { name: true } });
    if (known.some((one) => one.name === name))
      throw conflict(`the workspace has an own key ${quoted(name)} already; choose another name`, 'name');
    if (known.length >= mostOwnKeys)
      throw conflict(`a workspace may have at most ${mostOwnKeys} own keys; delete one first`);
    const at = address === null ? null : new URL(address).href;
    const id = newRowId();
    const pending = await sealedFor(context, id, value);
    await store.prisma.ownKey.create({
      data: { id, workspaceId, providerId: provider, name, pending, use, models: models ?? [], address: at },
    });
    return {
      result: { id, failure: null },
      subject: id,
      before: null,
      after: { name, provider, use, models, address: at },
    };
  },
  follow: async (context, { id }) => ({ id, failure: await tryKey(context, id) }),
});

export const setOwnKey = change({
  name: 'own-key.set',
  summary:
    'Changes how an own key is used, or replaces it: a new key comes into force once its test call has passed.',
  reach: 'workspace',
  permission: 'own-keys:write',
  fields: { id: ownKeyId, value: optional(secretField), ...ownKeySettings },
  output: tried,
  http: [{ method: 'PATCH', path: `${ownKeys}/{id}` }],
  line: { arguments: ['id'] },
  text: ({ id }) => `own key ${id} is changed`,
  failed: failedTest,
  run: async (context, { id, value, use, models }) => {
    const row = await lockOwnKey(context, id);
    const before = stateOf(row);
    context.expect(before);
    if (value === undefined && use === undefined && models === undefined)
      throw badInput('value', 'give a new key, or a setting to change');
    if (value !== undefined) {
      refuseUnlessAllowed(context, row.address);
      await refuseProvider(context, row.providerId, value);
    }
    await refuseUnknownModels(context, models);
    const wanted = {
      use: use ?? row.use,
      models: models === undefined ? row.models : (models ?? []),
    };
    const pending = value === undefined ? row.pending : await sealedFor(context, id, value);
    await context.store.prisma.ownKey.update({ where: { id }, data: { ...wanted, pending } });
    const after = stateOf({ ...row, ...wanted });
    return {
      result: { id, failure: null },
      subject: id,
      before: value === undefined ? before : { ...before, key: 'before' },
      after: value === undefined ? after : { ...after, key: 'replaced' },
      changes: [{ kind: 'workspace', subject: context.scope.workspaceId }],
    };
  },
  follow: async (context, { id }) => {
    const row = await context.store.prisma.ownKey.findFirst({ where: { id, ...inScope(context.scope) } });
    return { id, failure: row?.pending ? await tryKey(context, id) : null };
  },
});

/** A mutation, although it changes no setting: it makes a call that the workspace pays for at its provider. */
export const testOwnKey = change({
  name: 'own-key.test',
  summary: 'Tests an own key by the cheapest call to its provider, which is paid for there.',
  reach: 'workspace',
  permission: 'own-keys:write',
  fields: { id: ownKeyId },
  output: tried,
  http: [{ method: 'POST', path: `${ownKeys}/{id}/test` }],
  line: { arguments: ['id'] },
  text: ({ id }) => `own key ${id} works`,
  failed: ({ failure }) => failure,
  run: async (context, { id }) => {
    const row = await lockOwnKey(context, id);
    return {
      result: { id, failure: null },
      subject: id,
      before: { tested: null },
      after: { tested: row.name },
    };
  },
  follow: async (context, { id }) => ({ id, failure: await tryKey(context, id) }),
});

export const deleteOwnKey = change({
  name: 'own-key.delete',
  summary:
    'Deletes an own key; what it had its provider store, and its jobs, can then no longer be reached here.',
  reach: 'workspace',
  permission: 'own-keys:write',
  fields: { id: ownKeyId },
  output: shownOwnKey,
  http: [{ method: 'DELETE', path: `${ownKeys}/{id}` }],
  line: { arguments: ['id'] },
  run: async (context, { id }) => {
    const row = await lockOwnKey(context, id);
    await context.store.prisma.ownKey.delete({ where: { id } });
    return {
      result: shown(row, context),
      subject: id,
      before: stateOf(row),
      after: null,
      changes: [{ kind: 'workspace', subject: context.scope.workspaceId }],
    };
  },
});

export const listOwnKeys = read({
  name: 'own-key.list',
  summary: 'Lists the own keys of a workspace, without the keys themselves.',
  reach: 'workspace',
  permission: 'own-keys:read',
  fields: paging,
  output: pageOf(shownOwnKey).extend({
    allowed: z.boolean().describe('Whether the operator allows own keys now.'),
    addresses: z.boolean().describe('Whether they may have own addresses.'),
    feePercent: z.string().describe('What a call by one costs, in percent of its list price.'),
  }),
  http: [{ method: 'GET', path: ownKeys }],
  line: {
    columns: ['id', 'name', 'provider', 'use', 'models', 'state', 'failure'],
    unset: { models: 'all' },
  },
  run: async (context, input) => {
    const { after } = input;
    if (after !== undefined && !isUuid(after))
      throw badInput('after', 'this is not the "next" of a page of own keys');
    const limit = limitOf(input);
    const rows = await context.store.prisma.ownKey.findMany({
      where: { ...inScope(context.scope), ...(after === undefined ? {} : { id: { gt: after } }) },
      orderBy: { id: 'asc' },
      take: limit + 1,
    });
    const data = rows.slice(0, limit).map((row) => shown(row, context));
    const { allowed, addresses, feePoints } = context.ownKeys;
    return {
      data,
      next: rows.length > limit ? (data.at(-1)?.id ?? null) : null,
      allowed,
      addresses,
      feePercent: String(feePoints / 100),
    };
  },
});

export const ownKeyOperations = [createOwnKey, setOwnKey, testOwnKey, deleteOwnKey, listOwnKeys];

interface Row {
  id: string;
  name: string;
  providerId: string;
  secret: string | null;
  pending: string | null;
  use: string;
  models: string[];
  address: string | null;
  testedAt: Date | null;
  failure: string | null;
  createdAt: Date;
}

async function lockOwnKey({ store, scope }: Context<'workspace'>, id: string): Promise<Row> {
  const found = isUuid(id)
    ? await store.query(
        'SELECT 1 AS one FROM own_key WHERE id = $1::uuid AND workspace_id = $2::uuid FOR UPDATE',
        [id, scope.workspaceId],
      )
    : [];
  if (found.length === 0)
    throw notFound(`there is no own key ${quoted(id)}; "gateway own-key list" shows all own keys`, 'id');
  return store.prisma.ownKey.findUniqueOrThrow({ where: { id } });
}

/** @throws ControlRefused (conflict) if the operator does not allow own keys, or this one's own address. */
function refuseUnlessAllowed({ ownKeys: rules }: Context, address: string | null): void {
  if (!rules.allowed)
    throw conflict(
      'this gateway does not allow own keys; its operator can allow them with the setting OWN_KEYS',
    );
  if (address !== null && !rules.addresses)
    throw conflict('this gateway does not allow own addresses; use the address of the provider', 'address');
}

/**
 * Identities of clouds stay the operator's: "default" would be this machine's own, and others name addresses and files.
 * @throws ControlRefused not_found; bad_input if the provider takes no own key, or not this one.
 */
async function refuseProvider({ store }: Context, id: string, value: string): Promise<void> {
  const row = await store.prisma.provider.findUnique({ where: { id } });
  if (row === null) throw noProvider(id);
  const stored = storedCredentialShape.safeParse(row.credential).data;
  if (id === simulatedProvider || (stored && 'none' in stored))
    throw badInput('provider', 'this provider asks for no key');
  const auth = storedAuthShape.nullable().safeParse(row.auth).data ?? null;
  if (auth !== null && !isApiKey(auth, value))
    throw badInput('value', 'give an API key of this provider: identities of its cloud cannot be own keys');
}

function isApiKey(auth: Parameters<typeof readCloudKey>[0], value: string): boolean {
  try {
    return readCloudKey(auth, value) === null;
  } catch {
    return false;
  }
}

async function sealedFor(
  { store, sealingKey, scope }: Context<'workspace'>,
  id: string,
  value: string,
): Promise<string> {
  if (sealingKey === null)
    throw new ControlRefused(
      'conflict',
      'this process has no ENCRYPTION_KEY to seal the key with; set ENCRYPTION_KEY',
    );
  return seal(value, await commonKey(store, sealingKey), ownKeyContext(scope.workspaceId, id));
}

function shown(row: Row, { ownKeys: rules }: Pick<Context, 'ownKeys'>): ShownOwnKey {
  const { id, name, providerId, models, address, testedAt, failure, createdAt } = row;
  const allowed = rules.allowed && (address === null || rules.addresses);
  return {
    id,
    name,
    provider: providerId,
    use: knownUse(row.use),
    models: models.length > 0 ? models : null,
    address,
    state: !allowed ? 'not allowed' : row.secret === null ? 'not tested' : 'in use',
    testedAt: testedAt?.toISOString() ?? null,
    failure,
    createdAt: createdAt.toISOString(),
  };
}

function knownUse(stored: string): OwnUse {
  return ownUses.find((use) => use === stored) ?? 'only';
}

/** What the trail shows, without the key. */
function stateOf({ name, providerId, use, models, address }: Row) {
  return { name, provider: providerId, use, models: models.length > 0 ? models : null, address };
}
