import { z } from 'zod';
import type { ApiKey } from '#generated/client';
import { cap, choice, expiry, id, limit, models, name } from '#lib/control/operations/field/kinds';
import { shapeOf, shownSettings } from '#lib/control/operations/field/settings';
import { refusing } from '#lib/control/operations/key/refusing';
import { cacheNames, contentNames } from '#lib/control/operations/workspace/settings';

const caps = {
  title: 'Spend caps',
  help: 'In USD. The call that crosses a cap completes; the next one is refused.',
};
const content = { title: 'Content', help: 'Requests and answers that are kept for those who may read them.' };
const repeats = { title: 'Repeats', help: 'Answers that are kept to be given again, without another call.' };
const limits = { title: 'Rate limits', help: 'Limits of this key, in addition to those of the workspace.' };

/**
 * The settings of an API key. A setting is defined here and, as a column, in the schema; the command line,
 * the form, the management API, its document and the audit log take it from here.
 */
export const keySettings = {
  name: name({
    label: 'Name',
    help: 'Say where the key is used, so that you recognize it in the log.',
    example: 'production-web',
  }),
  models: models({ label: 'Models', help: 'The models that the key may call.', example: ['openai/gpt-4.1'] }),
  dailyCap: cap({
    label: 'Per day',
    help: 'From midnight to midnight in the workspace’s time zone.',
    group: caps,
    example: '5',
  }),
  d7Cap: cap({ label: 'Any 7 days', help: '', group: caps, example: '25' }),
  d30Cap: cap({ label: 'Any 30 days', help: '', group: caps, example: '80' }),
  quota: cap({ label: 'Lifetime', help: 'The key stops when this is used up.', group: caps, example: '500' }),
  rpm: limit({ label: 'Requests a minute', help: '', unit: 'requests a minute', group: limits, example: 60 }),
  tpm: limit({
    label: 'Tokens a minute',
    help: '',
    unit: 'tokens a minute',
    group: limits,
    example: 200_000,
  }),
  concurrency: limit({
    label: 'Concurrent calls',
    help: '',
    unit: 'concurrent calls',
    group: limits,
    example: 10,
  }),
  maxOutputTokens: limit({
    label: 'Output tokens a call',
    help: '',
    unit: 'tokens',
    group: limits,
    example: 4096,
  }),
  content: choice(
    {
      label: 'Keep content',
      help: 'Whether requests and answers of its calls are kept; “inherit” is what the workspace has set.',
      example: 'inherit',
      group: content,
      choiceNames: { ...contentNames, inherit: 'As the workspace' },
    },
    ['inherit', 'off', 'errors', 'all'],
  ),
  idempotency: choice(
    {
      label: 'Repeat answers',
      help: 'Whether the answer to a request with an Idempotency-Key is repeated for 24 hours; “inherit” is what the workspace has set.',
      example: 'inherit',
      group: repeats,
      choiceNames: { inherit: 'As the workspace', off: 'Off', on: 'On' },
    },
    ['inherit', 'off', 'on'],
  ),
  cache: choice(
    {
      label: 'Cache answers',
      help: 'Which of its requests are answered from the cache of the workspace; “inherit” is what the workspace has set.',
      example: 'inherit',
      group: repeats,
      choiceNames: { ...cacheNames, inherit: 'As the workspace' },
    },
    ['inherit', 'off', 'asked', 'all'],
  ),
  expiresAt: expiry({
    label: 'Expires',
    help: 'Calls are refused after this time. A date includes that day, in the workspace’s time zone.',
    flag: 'expires',
    example: '2027-01-31T12:00:00Z',
  }),
};

/** Where `/api/v1` serves the keys of a workspace. */
export const keysPath = '/workspaces/{workspace}/keys';

export const keyId = id({ label: 'Key', help: 'Id of the API key.' });

export const keyStates = ['active', 'inactive', 'revoked'] as const;
export type KeyStatus = (typeof keyStates)[number];

const dollars = z.string().describe('Dollars as a decimal string.');
const moments = z.iso.datetime();

/** What can be changed; the entity tag and audit rows are built from it. */
const stateShape = {
  ...shapeOf(keySettings),
  status: z.enum(keyStates).describe('Only calls of active keys are admitted.'),
  quotaExhausted: z.boolean().describe('Whether the lifetime cap is used up, so that calls are refused.'),
  display: z.string().describe('First 7 and last 4 characters, the only part that is stored in the clear.'),
  earlier: z
    .object({ display: z.string().nullable(), until: moments })
    .nullable()
    .describe('The previous secret and until when it works; null: it does not work any more.'),
};
export const changedKey = z.object({ id: z.uuid(), ...stateShape });

/** A key as "key show" prints it (contract: operations/key-show). */
export const shownKey = z.object({
  ...changedKey.shape,
  workspace: z.string().describe('Slug of its workspace.'),
  spent: z
    .object({ day: dollars, d7: dollars, d30: dollars, total: dollars })
    .describe('Settled spend, without what running calls hold.'),
  createdBy: z
    .object({ id: z.uuid(), name: z.string() })
    .nullable()
    .describe('The member who created it and with whom it stops; null: no particular member.'),
  lastUsedAt: moments.nullable().describe('Time of the latest call that was admitted; null: none yet.'),
  lastTriedAt: moments
    .nullable()
    .describe(
      'If no call was admitted yet: time of the latest call, which was refused; null: none in the log.',
    ),
  createdAt: moments,
  refusing: refusing
    .nullable()
    .describe('Why the next call would be refused, as far as that is known; null: no reason.'),
  ownerRemoved: z
    .boolean()
    .describe('Whether the member who created it has left, so that calls are refused.'),
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

/** The stored status; an unknown one counts as inactive, so that it never admits calls. */
function statusOf(stored: string): KeyStatus {
  return keyStates.find((state) => state === stored) ?? 'inactive';
}
