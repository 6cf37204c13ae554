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

/** For the value of this process; not in the management API, whose processes have the right value. */
export const acceptSecret = change({
  name: 'secret.accept',
  summary:
    'Accepts the value of a secret here as the one for this database, and reports what stops working without the previous value.',
  reach: 'gateway',
  permission: 'gateway:write',
  transaction: { limitMs: 60_000 },
  fields: {
    name: choice(
      { label: 'Setting', help: 'The secret to accept with its value here.', placeholder: 'NAME' },
      secretNames,
    ),
    confirm: optional(
      words({ label: 'Name', help: 'Name of the setting again, required if something stops working.' }, 100),
    ),
  },
  output: z.object({
    name: z.enum(secretNames),
    accepted: z.boolean().describe('false: it was already the accepted value.'),
    ended: z.array(z.object({ what: z.string(), count: z.int() })),
  }),
  line: { arguments: ['name'] },
  text: ({ name, accepted, ended }) =>
    accepted
      ? `the value of ${name} is accepted; restart all processes that have another one\nended: ${listOf(ended)}`
      : `the value of ${name} is already the accepted one`,
  run: async ({ store, sealingKey, heldSecrets }, { name, confirm }) => {
    const held = heldSecrets.filter((one) => one.name === name);
    const [secret] = await comparePrints(store, held);
    if (secret === undefined) throw conflict(`this process has no ${name}; set it`);
    const same = secret.at === 0 && secret.recordedAt !== null;
    if (!same && secret.short) {
      throw conflict(
        `${name} is shorter than ${leastSecret} characters; create one with openssl rand -hex 32`,
      );
    }
    const ended = same ? [] : (await endedBy(store, secret, sealingKey)).filter(({ count }) => count > 0);
    if (ended.length > 0 && confirm !== name) {
      throw badInput('confirm', `this ends ${listOf(ended)}; enter ${name} to accept the value here`);
    }
    const recordedAt = same ? secret.recordedAt : await replacePrint(store, secret);
    return {
      result: { name, accepted: !same, ended },
      subject: name,
      before: { recordedAt: secret.recordedAt?.toISOString() ?? null },
      after: { recordedAt: recordedAt?.toISOString() ?? null },
      ...(ended.length > 0 ? { detail: { ended } } : {}),
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
  // What was made with a value that is still set as an old one keeps working.
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

/** @throws ControlRefused (conflict) while an old key still opens secrets, which a rotation would keep. */
async function unreadable(store: Store, key: SealingKey): Promise<Ended[]> {
  const found = new Map<string, number>();
  let older = 0;
  for await (const { column, plain, current } of storedSecrets(store, key)) {
    if (plain === null) found.set(column.what, (found.get(column.what) ?? 0) + 1);
    else if (!current) older += 1;
  }
  if (older > 0) {
    throw conflict(
      `${older} stored secrets are sealed with a key of ENCRYPTION_KEY_OLD: run "gateway secret rotate", which also accepts ENCRYPTION_KEY`,
    );
  }
  return [...found].map(([what, count]) => ({ what, count }));
}
