import type { Actor } from '#lib/control/operations/actor';
import * as call from '#lib/control/operations/call/operations';
import * as credit from '#lib/control/operations/credit/operations';
import type { Mutation, Reach, Read } from '#lib/control/operations/declare';
import type { Fields } from '#lib/control/operations/field/field';
import * as key from '#lib/control/operations/key/operations';
import * as rotation from '#lib/control/operations/key/rotate';
import * as member from '#lib/control/operations/member/operations';
import * as policy from '#lib/control/operations/policy/operations';
import { ControlRefused } from '#lib/control/operations/refusal';
import { ask, type ControlHost } from '#lib/control/operations/run';
import { heldSecretsOf } from '#lib/control/operations/secret/prints';
import * as user from '#lib/control/operations/user/operations';
import * as workspace from '#lib/control/operations/workspace/operations';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { publish } from '#lib/platform/data/change';
import type { Db } from '#lib/platform/data/db';

/** As tests write it: the JSON of the operation's input, and the workspace if it needs one. */
type Given = { workspace?: string } & Record<string, unknown>;

/** Encrypts the secrets of webhooks and the credentials of providers. */
export const sealingKey = new Uint8Array(32).fill(7);

/** Secrets that a process needs and no test looks at. */
export const secretSettings = {
  nextAuthSecret: 'signs sessions of tests',
  oldNextAuthSecrets: [],
  encryptionKey: Buffer.from(sealingKey).toString('hex'),
  oldEncryptionKeys: [],
  shortSecrets: [],
};

/** The operations of a database, without gateway processes. */
export function controlHost(db: Db, keyPepper = 'pepper'): ControlHost {
  const catalogue = () => loadCatalogue(db.pool, { envSecret: () => undefined, sealingKey });
  const heldSecrets = heldSecretsOf({ ...secretSettings, keyPepper });
  const ownKeys = { allowed: true, addresses: true, feePoints: 500 };
  return { db, keyPepper, catalogue, sealingKey, heldSecrets, ownKeys, changed: () => {} };
}

const operator: Actor = { kind: 'operator', name: 'test', address: null };

/** Runs an operation, by default as an operator. */
export function operate<F extends Fields, Out, R extends Reach>(
  db: Db,
  operation: Read<F, Out, R> | Mutation<F, Out, R>,
  { workspace, ...input }: Given,
  keyPepper = 'pepper',
  actor = operator,
): Promise<Out> {
  return ask(controlHost(db, keyPepper), operation, { actor, workspace, input });
}

export interface KeyGiven extends Given {
  workspace: string;
  name: string;
}

export const createKey = (db: Db, given: KeyGiven, pepper?: string) =>
  operate(db, key.createKey, given, pepper);
/** As a member of the workspace: the key stops when they leave. */
export const createKeyAs = (db: Db, userId: string, given: KeyGiven) =>
  operate(db, key.createKey, given, 'pepper', { kind: 'user', userId, operator: false, address: null });
export const listKeys = (db: Db, workspace: string, page: Record<string, unknown> = {}) =>
  operate(db, key.listKeys, { workspace, ...page });
export const rotateKey = (db: Db, given: Given, pepper?: string) =>
  operate(db, rotation.rotateKey, given, pepper);
export const setKey = (db: Db, given: Given) => operate(db, key.setKey, given);
export const findKey = (db: Db, id: string, workspace?: string) =>
  operate(db, key.showKey, workspace === undefined ? { id } : { id, workspace });
export const enableKey = (db: Db, given: Given) => operate(db, key.enableKey, given);
export const disableKey = (db: Db, given: Given) => operate(db, key.disableKey, given);
export const exhaustKey = (db: Db, given: Given) => operate(db, key.exhaustKey, given);
export const restoreKey = (db: Db, given: Given) => operate(db, key.restoreKey, given);
export const revokeKey = (db: Db, given: Given) => operate(db, key.revokeKey, given);

/** Puts the expiry of a key into the past, which no operation does. */
export async function expireKey({ prisma, pool }: Db, id: string): Promise<void> {
  await prisma.apiKey.update({ where: { id }, data: { expiresAt: new Date(Date.now() - 1000) } });
  const sql = { query: (text: string, values: unknown[]) => pool.query(text, values) };
  await publish(sql, [{ kind: 'key', subject: id }]);
}

export interface PolicyGiven extends Given {
  workspace: string;
  policy: Record<string, unknown>;
  model?: string;
}
export const setPolicy = (db: Db, given: PolicyGiven) => operate(db, policy.setPolicy, given);
export const rollBackPolicy = (db: Db, given: Given) => operate(db, policy.rollBackPolicy, given);

export const createWorkspace = (db: Db, given: { name: string } & Record<string, unknown>) =>
  operate(db, workspace.createWorkspace, given);
export const setWorkspace = (db: Db, given: Given) => operate(db, workspace.setWorkspace, given);
/** @param slug or id. */
export const findWorkspace = (db: Db, slug: string) =>
  operate(db, workspace.showWorkspace, { workspace: slug });
export const createUser = (db: Db, given: Given) => operate(db, user.createUser, given);
/** As an operator, or as a user who is not one. */
export const addMember = (db: Db, given: Given, userId?: string) =>
  operate(db, member.addMember, given, undefined, actorOf(userId));
export const setMember = (db: Db, given: Given, userId?: string) =>
  operate(db, member.setMember, given, undefined, actorOf(userId));
export const removeMember = (db: Db, given: Given, userId?: string) =>
  operate(db, member.removeMember, given, undefined, actorOf(userId));

function actorOf(userId: string | undefined): Actor | undefined {
  return userId === undefined ? undefined : { kind: 'user', userId, operator: false, address: null };
}
export const addCredit = (db: Db, given: { workspace: string; amount: string; reason: string }) =>
  operate(db, credit.addCredit, given);
export const listCalls = (db: Db, workspace: string, page: Record<string, unknown> = {}) =>
  operate(db, call.listCalls, { workspace, ...page });
/** A call of any workspace; null: it is not in the log (yet). */
export const findCall = (db: Db, id: string) =>
  operate(db, call.showCall, { id }).catch((error: unknown) => {
    if (error instanceof ControlRefused && error.code === 'not_found') return null;
    throw error;
  });
