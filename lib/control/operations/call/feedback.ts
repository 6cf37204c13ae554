import { z } from 'zod';
import type { CallFeedback } from '#generated/client';
import { more } from '#lib/control/operations/call/figure-filters';
import { choice, words } from '#lib/control/operations/field/kinds';
import { filter } from '#lib/control/operations/field/paging';
import type { Store } from '#lib/control/operations/store';
import { goodScore } from '#lib/core/facts/feedback';
import { openBytes, type SealingKey, sealBytes } from '#lib/platform/sealing';

export const longestLabel = 64;
export const longestText = 4_000;
const authors = ['api-key', 'management-key', 'user', 'operator'] as const;

/** What was said about the answer of a call. */
export const shownFeedback = z.object({
  score: z.number().nullable().describe('From 0 (bad) to 1 (good).'),
  label: z.string().nullable(),
  text: z
    .string()
    .nullable()
    .describe('null: there is none, or your role may not read the content of calls.'),
  by: z.enum(authors).describe('What wrote it: the key that made the call, a management key, or a person.'),
  at: z.iso.datetime().describe('When it was written.'),
});
export type ShownFeedback = z.output<typeof shownFeedback>;

const contextOf = (workspaceId: string, callId: string) => `call-feedback:${workspaceId}/${callId}`;

/** Seals the text of a feedback (contract: call-log/feedback-text). */
export function sealFeedback(
  { workspaceId, callId }: { readonly workspaceId: string; readonly callId: string },
  text: string,
  key: SealingKey,
): Buffer {
  return sealBytes(Buffer.from(text), key, contextOf(workspaceId, callId));
}

/**
 * Feedback of calls, by the id of the call.
 * @param key opens the texts; null: they are not shown.
 */
export async function readFeedback(
  { prisma }: Pick<Store, 'prisma'>,
  callIds: readonly string[],
  key: SealingKey | null,
): Promise<ReadonlyMap<string, ShownFeedback>> {
  const rows = await prisma.callFeedback.findMany({ where: { callId: { in: [...callIds] } } });
  return new Map(rows.map((row) => [row.callId, feedbackOf(row, key)]));
}

/** A row of feedback as it is shown. @param key as of `readFeedback`. */
export function feedbackOf(row: CallFeedback, key: SealingKey | null): ShownFeedback {
  return {
    // As it was given: the column has single precision.
    score: row.score === null ? null : Number(row.score.toPrecision(6)),
    label: row.label,
    text: row.text === null || key === null ? null : opened(row, row.text, key),
    by: authors.find((one) => one === row.givenBy) ?? 'operator',
    at: row.givenAt.toISOString(),
  };
}

/** null: it was sealed with a key that this process does not have. */
function opened({ workspaceId, callId }: CallFeedback, text: Uint8Array, key: SealingKey): string | null {
  try {
    return Buffer.from(openBytes(text, key, contextOf(workspaceId, callId)).plain).toString('utf8');
  } catch {
    return null;
  }
}

const given = (condition: string) =>
  `EXISTS (SELECT FROM call_feedback f WHERE f.call_id = c.id AND ${condition})`;

/** Filters of the log by feedback (contract: call-log/feedback-figures). */
export const feedbackFilters = {
  feedback: filter({
    field: choice(
      {
        label: 'Feedback',
        help: `What was said about the answer: good (a score of at least ${goodScore}), bad, any or none.`,
        group: more,
        example: 'bad',
      },
      ['good', 'bad', 'any', 'none'],
    ),
    sql: (word) => `CASE ${word} WHEN 'good' THEN ${given(`f.score >= ${goodScore}`)}
      WHEN 'bad' THEN ${given(`f.score < ${goodScore}`)}
      ELSE ${given('TRUE')} = (${word} = 'any') END`,
  }),
  feedbackLabel: filter({
    field: words(
      { label: 'Feedback label', help: 'The label of its feedback.', group: more, example: 'wrong answer' },
      longestLabel,
    ),
    sql: (label) => given(`f.label = ${label}`),
  }),
};
