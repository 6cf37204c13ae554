import { z } from 'zod';
import { change, read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { count } from '#lib/control/operations/field/kinds';
import { ControlRefused } from '#lib/control/operations/refusal';
import { acceptSecret } from '#lib/control/operations/secret/accept';
import { refuseWhileUnknown } from '#lib/control/operations/secret/common-key';
import { comparePrints, replacePrint } from '#lib/control/operations/secret/prints';
import { storedSecrets } from '#lib/control/operations/secret/sealed';
import type { Store } from '#lib/control/operations/store';
import { keysOf, type SealingKey, seal } from '#lib/platform/sealing';

const counts = {
  current: z.int().describe('Number of secrets sealed with ENCRYPTION_KEY.'),
  older: z.int().describe('Number of secrets sealed with a key of ENCRYPTION_KEY_OLD; rotate them.'),
  unreadable: z
    .array(z.string())
    .describe('Secrets that no key of this process can open, at most 100; store them again.'),
};
const shownCounts = z.object(counts);
type Counts = z.output<typeof shownCounts>;

const mostNamed = 100;
/** Maximum to seal again in one transaction, so that it blocks others only briefly. */
const mostAtOnce = 2_000;

export const showSecrets = read({
  name: 'secret.status',
  summary: 'Shows how many stored secrets are sealed with each encryption key; never a secret.',
  reach: 'gateway',
  permission: 'gateway:read',
  output: shownCounts,
  http: [{ method: 'GET', path: '/secrets' }],
  line: {},
  failed: ({ unreadable }) =>
    unreadable.length > 0
      ? `${unreadable.length} secrets cannot be opened with the keys of this process`
      : null,
  run: ({ store, sealingKey }) => countSecrets(store, sealed(sealingKey)),
});

/** A run is stored as a whole or not at all, and every value can be opened before and after: it may be killed any time. */
export const rotateSecrets = change({
  name: 'secret.rotate',
  summary: `Seals secrets of older keys again with ENCRYPTION_KEY, up to ${mostAtOnce} secrets at a time.`,
  reach: 'gateway',
  permission: 'gateway:write',
  transaction: { limitMs: 60_000 },
  fields: {
    limit: optional(
      count(
        {
          label: 'Secrets',
          help: `Maximum number of secrets. Default: ${mostAtOnce}.`,
          unit: 'secrets',
          example: 100,
        },
        { min: 1, max: mostAtOnce },
      ),
    ),
  },
  output: z.object({
    rotated: z.int().describe('Secrets sealed again by this run.'),
    ...counts,
  }),
  http: [{ method: 'POST', path: '/secrets/rotate' }],
  line: {},
  text: ({ rotated, current, older, unreadable }) =>
    [
      `${rotated} secrets sealed again; ${current} are sealed with ENCRYPTION_KEY`,
      older > 0
        ? `${older} are left; run this again`
        : unreadable.length > 0
          ? `these cannot be opened; store them again: ${unreadable.join(', ')}`
          : 'ENCRYPTION_KEY_OLD is no longer needed',
    ].join('\n'),
  run: async ({ store, sealingKey }, { limit = mostAtOnce }) => {
    const key = sealed(sealingKey);
    await refuseWhileUnknown(store, key);
    const before = await countSecrets(store, key);
    let rotated = 0;
    for await (const { column, id, sealed: old, plain, current } of storedSecrets(store, key)) {
      if (plain === null || current) continue;
      if (rotated === limit) break;
      rotated += await store.execute(column.replace, [id, old, seal(plain, key, column.context(id))]);
    }
    const after = rotated === 0 ? before : await countSecrets(store, key);
    const whole = after.older === 0 && after.unreadable.length === 0;
    const accepted = whole && (await takeOver(store, key));
    return {
      result: { rotated, ...after },
      subject: 'secrets',
      before: rotated === 0 ? {} : { older: before.older },
      after: rotated === 0 ? {} : { older: after.older },
      ...(accepted ? { detail: { accepted: 'ENCRYPTION_KEY' } } : {}),
    };
  },
});

/** Nothing is sealed with the old key any more: a process that knows only the old key must not start again. */
async function takeOver(store: Store, key: SealingKey): Promise<boolean> {
  const [value, ...older] = keysOf(key).map((one) => Buffer.from(one).toString('hex'));
  if (value === undefined) return false;
  const held = { name: 'ENCRYPTION_KEY', values: [value, ...older], short: false } as const;
  const [secret] = await comparePrints(store, [held]);
  if (!secret?.at) return false;
  await replacePrint(store, secret);
  return true;
}

export const secretOperations = [showSecrets, rotateSecrets, acceptSecret];

function sealed(key: SealingKey | null): SealingKey {
  if (key !== null) return key;
  throw new ControlRefused('conflict', 'this process has no ENCRYPTION_KEY; set ENCRYPTION_KEY');
}

async function countSecrets(store: Store, key: SealingKey): Promise<Counts> {
  const found = { current: 0, older: 0, unreadable: [] as string[] };
  for await (const { column, id, plain, current } of storedSecrets(store, key)) {
    if (plain === null) {
      if (found.unreadable.length < mostNamed) found.unreadable.push(`${column.what} ${id}`);
    } else if (current) found.current += 1;
    else found.older += 1;
  }
  return found;
}
