import type { ApiKey } from '#generated/client';
import { change } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { count } from '#lib/control/operations/field/kinds';
import { changeKey } from '#lib/control/operations/key/change';
import { demoKey, madeKey, newSecret } from '#lib/control/operations/key/secret';
import { changedKey, keyId, keysPath } from '#lib/control/operations/key/settings';

const longestOverlapSeconds = 30 * 24 * 3600;
const noEarlier = { oldHash: null, oldHashUntil: null, oldDisplay: null };

function earlierSecret({ hash, displayStart, displayEnd }: ApiKey, until: Date) {
  return { oldHash: hash, oldHashUntil: until, oldDisplay: `${displayStart}…${displayEnd}` };
}

export const rotateKey = change({
  name: 'key.rotate',
  summary:
    'Gives a key a new secret and keeps its id, limits and spend. Any earlier secret in overlap stops at once.',
  reach: 'subject',
  permission: 'keys:write',
  fields: {
    id: keyId,
    overlapSeconds: optional(
      count(
        {
          label: 'Overlap',
          help: 'How long the current secret continues to work, in seconds. Default: 0, it stops at once.',
          unit: 'seconds',
          flag: 'overlap',
          placeholder: 'SECONDS',
          example: 3600,
        },
        { min: 0, max: longestOverlapSeconds },
      ),
    ),
  },
  output: madeKey,
  http: [{ method: 'POST', path: `${keysPath}/{id}/rotate` }],
  line: { arguments: ['id'] },
  text: ({ id, key }) => `key ${id} has a new secret; it is shown only once:\n${key}`,
  run: async (context, { id, overlapSeconds = 0 }) => {
    const { key, columns } = newSecret(context.keyPepper);
    const until = overlapSeconds === 0 ? null : new Date(context.nowMs + overlapSeconds * 1000);
    const done = await changeKey(context, id, (old) => {
      if (old.hash.length !== columns.hash.length) throw demoKey();
      return {
        data: { ...columns, ...(until === null ? noEarlier : earlierSecret(old, until)) },
        detail: { overlapSeconds },
      };
    });
    return { ...done, result: { id, key } };
  },
});

export const endOverlap = change({
  name: 'key.end-overlap',
  summary: 'Stops the previous secret at once, before its overlap has ended.',
  reach: 'subject',
  permission: 'keys:write',
  fields: { id: keyId },
  output: changedKey,
  http: [{ method: 'POST', path: `${keysPath}/{id}/end-overlap` }],
  line: { arguments: ['id'] },
  text: ({ id }) => `only the newest secret of key ${id} works now`,
  run: (context, { id }) =>
    changeKey(context, id, (key) => (key.oldHash === null ? null : { data: noEarlier })),
});
