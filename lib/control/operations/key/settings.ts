import { z } from 'zod';
import type { ApiKey } from '#generated/client';
import { cap, expiry, id, limit, models, name } from '#lib/control/operations/field/kinds';
import { shapeOf, shownSettings } from '#lib/control/operations/field/settings';
import { refusing } from '#lib/control/operations/key/refusing';

const caps = {
  title: 'Spend caps',
  help: 'Spend caps in USD. The call that crosses a cap completes; the next one is refused.',
};
const limits = { title: 'Rate limits', help: 'Rate limits of this key, beside those of the workspace.' };

/**
 * What may be set of an API key. A setting stands here and, as a column, in the schema: the command line,
 * the form, the management API, its document and the audit trail read it from here.
 */
export const keySettings = {
  name: name({
    label: 'Name',
    help: 'Where it is used, so that you recognise it in the logs.',
    example: 'production-web',
  }),
  models: models({ label: 'Models', help: 'The models that it may call.', example: ['openai/gpt-4.1'] }),
  dailyCap: cap({
    label: 'Per day',
    help: 'Midnight to midnight in the workspace’s zone',
    group: caps,
    example: '5',
  }),
  d7Cap: cap({ label: 'Any 7 days', help: '', group: caps, example: '25' }),
  d30Cap: cap({ label: 'Any 30 days', help: '', group: caps, example: '80' }),
  quota: cap({ label: 'Lifetime', help: 'The key stops when it is used up', group: caps, example: '500' }),
  rpm: limit({ label: 'Requests a minute', help: '', unit: 'requests a minute', group: limits, example: 60 }),
  tpm: limit({
    label: 'Tokens a minute',
    help: '',
    unit: 'tokens a minute',
    group: limits,
    example: 200_000,
  }),
  concurrency: limit({ label: 'Calls at once', help: '', unit: 'calls at once', group: limits, example: 10 }),
  maxOutputTokens: limit({
    label: 'Output tokens a call',
    help: '',
    unit: 'tokens',
    group: limits,
    example: 4096,
  }),
  expiresAt: expiry({
    label: 'Expires',
    help: 'From then on its calls are refused. A date includes that day, in the workspace’s zone.',
    flag: 'expires',
    example: '2027-01-31T12:00:00Z',
  }),
};

/** Where `/api/v1` serves the keys of a workspace. */
export const keysPath = '/workspaces/{workspace}/keys';

export const keyId = id({ label: 'Key', help: 'The id of the API key.' });

const states = ['active', 'inactive', 'revoked'] as const;
export type KeyStatus = (typeof states)[number];

const dollars = z.string().meta({ description: 'Dollars as a decimal string.' });
const moments = z.iso.datetime();

/** What can change of a key: its entity tag and its audit rows are made of it. */
const stateShape = {
  ...shapeOf(keySettings),
  status: z.enum(states).meta({ description: 'Calls of an active one alone are admitted.' }),
  quotaExhausted: z.boolean().meta({ description: 'The lifetime cap is used up, so its calls are refused.' }),
  display: z
    .string()
    .meta({ description: 'Its first 7 and last 4 characters: all that is kept in the clear.' }),
  earlier: z.object({ display: z.string().nullable(), until: moments }).nullable().meta({
    description: 'The secret before the last rotation, and until when it works; null: it stopped at once.',
  }),
};
export const changedKey = z.object({ id: z.uuid(), ...stateShape });

/** A key as "key show" prints it (contract: operations/key-show). */
export const shownKey = z.object({
  ...changedKey.shape,
  workspace: z.string().meta({ description: 'The slug of its workspace.' }),
  spent: z
    .object({ day: dollars, d7: dollars, d30: dollars, total: dollars })
    .meta({ description: 'Settled spend; what running calls hold comes on top.' }),
  createdBy: z.object({ id: z.uuid(), name: z.string() }).nullable().meta({
    description: 'The member who made it, whose leaving stops it; null: nobody in particular.',
  }),
  lastUsedAt: moments.nullable().meta({ description: 'The last call; null: none so far.' }),
  createdAt: moments,
  refusing: refusing.nullable().meta({
    description: 'What its next call would be refused by, as far as that is known; null: nothing.',
  }),
  ownerRemoved: z
    .boolean()
    .meta({ description: 'The member who made it is gone, so its calls are refused.' }),
});
export type ShownKey = z.output<typeof shownKey>;

const stateSchema = z.object(stateShape);
export type KeyState = z.output<typeof stateSchema>;

export function stateOfRow(row: ApiKey): KeyState {
  return {
    ...shownSettings(keySettings, row),
    status: statusOf(row.status),
    quotaExhausted: row.quotaExhausted,
    display: `${row.displayStart}…${row.displayEnd}`,
    earlier: row.oldHashUntil && { display: row.oldDisplay, until: row.oldHashUntil.toISOString() },
  };
}

/** The state within a shown key. */
export function stateOfShown(key: ShownKey): KeyState {
  return stateSchema.parse(key);
}

/** The stored status; anything that is no status counts as inactive, so that it never admits. */
function statusOf(stored: string): KeyStatus {
  return states.find((state) => state === stored) ?? 'inactive';
}
