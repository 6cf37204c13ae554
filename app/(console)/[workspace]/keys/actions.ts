'use server';

import { z } from 'zod';
import { memberAction } from '#lib/console/action';
import { dayEnd } from '#lib/console/day-end';
import { getConsoleHost } from '#lib/console/db';
import { createKey } from '#lib/verbs/key-create';
import { disableKey, enableKey, revokeKey } from '#lib/verbs/key-state';
import { VerbRefused } from '#lib/verbs/verb';

const newKey = z.strictObject({
  name: z.string().max(1000),
  models: z.array(z.string()).max(2000).nullable(),
  expiresAt: z.string().nullable(),
  dailyCap: z.string().optional(),
  d7Cap: z.string().optional(),
  d30Cap: z.string().optional(),
  quota: z.string().optional(),
  rpm: z.string().optional(),
  tpm: z.string().optional(),
  concurrency: z.string().optional(),
  maxOutputTokens: z.string().optional(),
});
const oneKey = z.strictObject({ id: z.uuid() });

/** The only answer that ever carries a key. */
export const createKeyAction = memberAction('keys:write', newKey, async ({ user, workspace }, input) => {
  const { db, env } = getConsoleHost();
  const expiresAt = input.expiresAt === null ? null : expiryOf(input.expiresAt, workspace.timeZone);
  return createKey(db, user.id, { ...input, expiresAt, workspace: workspace.id }, env.keyPepper);
});

/** The last moment of a day in the workspace's zone, or the moment given. */
function expiryOf(text: string, zone: string): Date {
  const moment = dayEnd(text, zone) ?? new Date(text);
  if (Number.isNaN(moment.getTime())) throw new VerbRefused('choose the last day', 'expiresAt');
  if (moment.getTime() <= Date.now())
    throw new VerbRefused('this day is over; choose a later one', 'expiresAt');
  return moment;
}

export const enableKeyAction = memberAction('keys:write', oneKey, async ({ user, workspace }, { id }) =>
  enableKey(getConsoleHost().db, user.id, { id, workspaceId: workspace.id }),
);

export const disableKeyAction = memberAction('keys:write', oneKey, async ({ user, workspace }, { id }) =>
  disableKey(getConsoleHost().db, user.id, { id, workspaceId: workspace.id }),
);

export const revokeKeyAction = memberAction('keys:write', oneKey, async ({ user, workspace }, { id }) =>
  revokeKey(getConsoleHost().db, user.id, { id, workspaceId: workspace.id }),
);
