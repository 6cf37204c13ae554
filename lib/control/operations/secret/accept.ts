import { z } from 'zod';
import { change } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { choice, words } from '#lib/control/operations/field/kinds';
import { badInput, conflict } from '#lib/control/operations/refusal';
import { type ComparedSecret, comparePrints, replacePrint } from '#lib/control/operations/secret/prints';
import { storedSecrets } from '#lib/control/operations/secret/sealed';
import type { Store } from '#lib/control/operations/store';
import { leastSecret, type SecretName, secretNames } from '#lib/platform/env/env-secrets';
import type { SealingKey } from '#lib/platform/sealing';

interface Ended {
  readonly what: string;
  readonly count: number;
}

/** Of the value that this process has; it is no part of the management API, whose processes have the right one. */
export const acceptSecret = change({
  name: 'secret.accept',
  summary:
    'Makes the value of a secret here the one that the database is used with, and says what ends with the one before.',
  reach: 'gateway',
  permission: 'gateway:write',
  transaction: { limitMs: 60_000 },
  fields: {
    name: choice(
      { label: 'Setting', help: 'The secret whose value here is the right one.', placeholder: 'NAME' },
      secretNames,
    ),
    confirm: optional(
      words({ label: 'Name', help: 'Of the setting, typed once more, where something ends.' }, 100),
    ),
  },
  output: z.object({
    name: z.enum(secretNames),
    accepted: z.boolean().meta({ description: 'false: it was the right one already.' }),
    ended: z.array(z.object({ what: z.string(), count: z.int() })),
  }),
  http: [],
  line: { arguments: ['name'] },
  text: ({ name, accepted, ended }) =>
    accepted
      ? `${name} is the right one from now on: start the processes again that have another\nended: ${listOf(ended)}`
      : `${name} is the right one already`,
  run: async ({ store, sealingKey, heldSecrets }, { name, confirm }) => {
    const held = heldSecrets.filter((one) => one.name === name);
    const [secret] = await comparePrints(store, held);
    if (secret === undefined) throw conflict(`this process has no ${name}; set it`);
    const same = secret.at === 0 && secret.recordedAt !== null;
    if (!same && secret.short) {
      throw conflict(`${name} is shorter than ${leastSecret} characters: make one with openssl rand -hex 32`);
    }
    const ended = same ? [] : (await endedBy(store, secret, sealingKey)).filter(({ count }) => count > 0);
    if (ended.length > 0 && confirm !== name) {
      throw badInput('confirm', `this ends ${listOf(ended)}; write ${name} to go on with the value here`);
    }
    const recordedAt = same ? secret.recordedAt : await replacePrint(store, secret);
    return {
      result: { name, accepted: !same, ended },
      subject: name,
      workspaceId: null,
      before: { recordedAt: secret.recordedAt?.toISOString() ?? null },
      after: { recordedAt: recordedAt?.toISOString() ?? null },
      ...(ended.length > 0 ? { detail: { ended } } : {}),
      changes: [],
    };
  },
});

function listOf(ended: readonly Ended[]): string {
  return ended.map(({ what, count }) => `${count} ${what}${count === 1 ? '' : 's'}`).join(', ') || 'nothing';
}

/** What stops working when the value changes. */
async function endedBy(
  store: Store,
  { name, at }: ComparedSecret,
  sealingKey: SealingKey | null,
): Promise<Ended[]> {
  if (name === 'ENCRYPTION_KEY') return unreadable(store, sealingKey ?? []);
  // Those of a value that is still set as an old one go on.
  if (at !== null) return [];
  return store.query<Ended>(counts[name], []);
}

const counts: Readonly<Record<Exclude<SecretName, 'ENCRYPTION_KEY'>, string>> = {
  NEXTAUTH_SECRET: `SELECT 'session' AS what, count(*)::int AS count FROM session WHERE ends_at > now()`,
  KEY_PEPPER: `
    SELECT 'API key' AS what, count(*)::int AS count FROM api_key
      WHERE status <> 'revoked' AND session_id IS NULL AND (expires_at IS NULL OR expires_at > now())
    UNION ALL SELECT 'management key', count(*)::int FROM management_key WHERE revoked_at IS NULL
    UNION ALL SELECT 'link in mail', (
      SELECT count(*) FROM account_token WHERE used_at IS NULL AND expires_at > now())::int + (
      SELECT count(*) FROM invitation_link l JOIN invitation i ON i.id = l.invitation_id
        WHERE i.accepted_at IS NULL AND i.cancelled_at IS NULL AND i.expires_at > now())::int`,
};

/** @throws ControlRefused (conflict) while an old key still opens something, which a rotation would keep. */
async function unreadable(store: Store, key: SealingKey): Promise<Ended[]> {
  const found = new Map<string, number>();
  let older = 0;
  for await (const { column, plain, current } of storedSecrets(store, key)) {
    if (plain === null) found.set(column.what, (found.get(column.what) ?? 0) + 1);
    else if (!current) older += 1;
  }
  if (older > 0) {
    throw conflict(
      `${older} stored secrets are sealed with a key of ENCRYPTION_KEY_OLD: run "gateway secret rotate", which makes ENCRYPTION_KEY the right one too`,
    );
  }
  return [...found].map(([what, count]) => ({ what, count }));
}
