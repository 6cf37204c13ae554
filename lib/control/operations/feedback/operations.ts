import { z } from 'zod';
import type { CallFeedback } from '#generated/client';
import type { Actor } from '#lib/control/operations/actor';
import {
  feedbackOf,
  longestLabel,
  longestText,
  sealFeedback,
  shownFeedback,
} from '#lib/control/operations/call/feedback';
import { getCall, noCall } from '#lib/control/operations/call/find';
import { change, type State } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { id, prose, share, words } from '#lib/control/operations/field/kinds';
import { badInput, conflict } from '#lib/control/operations/refusal';
import { within } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { may } from '#lib/core/role';
import { countedModelSql } from '#lib/gateway/settlement/usage/counted-model';

const feedbackFields = {
  id: id({ label: 'Call', help: 'Request id: the X-Request-Id of the answer.', placeholder: 'REQUEST_ID' }),
  score: optional(
    share({
      label: 'Score',
      help: 'From 0 (bad) to 1 (good); 0.5 and more counts as good.',
      unit: 'share',
      example: 1,
    }),
  ),
  label: optional(
    words({ label: 'Label', help: 'A word or two to filter by.', example: 'wrong answer' }, longestLabel),
  ),
  text: optional(
    prose({ label: 'Text', help: `What the user wrote, at most ${longestText} characters.` }, longestText),
  ),
};

/** Writes whether an answer was any good; the earlier feedback of the call is replaced (contract: call-log/feedback). */
export const setFeedback = change({
  name: 'feedback.set',
  summary:
    'Says whether the answer of a call was any good, in place of what was said before; the API key that made the call may do so too.',
  reach: 'subject',
  permission: 'feedback:write',
  apiKeys: true,
  fields: feedbackFields,
  output: shownFeedback.extend({ id: z.uuid().describe('Request id of the call.') }),
  http: [{ method: 'POST', path: '/calls/{id}/feedback' }],
  line: { arguments: ['id'] },
  run: async (context, input) => {
    const { actor, store, scope, sealingKey, nowMs, role } = context;
    const { score, label, text } = input;
    if (score === undefined && label === undefined && text === undefined) {
      throw badInput('score', 'give a score, a label or a text');
    }
    const call = await getCall(context, input.id);
    if (actor.kind === 'api-key' && call.key !== actor.keyId) throw noCall(input.id);
    // Locked, so that retention deletes its feedback too.
    const values: unknown[] = [call.id];
    const [row] = await store.query<CountedCall>(
      `SELECT c.workspace_id::text AS "workspaceId", ${countedModelSql('c.')} AS model FROM call c
       WHERE c.id = $1::uuid AND ${within(scope, 'c.workspace_id', values)} FOR KEY SHARE`,
      values,
    );
    if (row === undefined) throw noCall(input.id);
    const { workspaceId, model } = row;
    if (text !== undefined && sealingKey === null) {
      throw conflict('set ENCRYPTION_KEY for this process; the text of feedback is stored encrypted');
    }
    const written = {
      callId: call.id,
      workspaceId,
      keyId: call.key,
      at: new Date(call.at),
      model,
      provider: call.provider ?? '',
      score: score ?? null,
      label: label ?? null,
      text:
        text === undefined || sealingKey === null
          ? null
          : new Uint8Array(sealFeedback({ workspaceId, callId: call.id }, text, sealingKey)),
      givenBy: authorOf(actor),
      givenAt: new Date(nowMs),
    };
    const before = await lockFeedback(store, call.id);
    await store.prisma.callFeedback.upsert({
      where: { callId: call.id },
      create: written,
      update: written,
    });
    // What apps write is not in the audit log (contract: call-log/feedback-by).
    const after = stateOf(written);
    return {
      result: {
        id: call.id,
        ...feedbackOf(written, role !== null && may(role, 'content:read') ? sealingKey : null),
      },
      subject: call.id,
      workspaceId,
      before: actor.kind === 'api-key' ? after : before === null ? noFeedback : stateOf(before),
      after,
    };
  },
});

interface CountedCall {
  readonly workspaceId: string;
  /** The model that usage counts it under. */
  readonly model: string;
}

async function lockFeedback(store: Store, callId: string): Promise<CallFeedback | null> {
  await store.query('SELECT 1 FROM call_feedback WHERE call_id = $1::uuid FOR UPDATE', [callId]);
  return store.prisma.callFeedback.findUnique({ where: { callId } });
}

function authorOf({ kind }: Actor): string {
  return kind === 'anonymous' ? 'operator' : kind;
}

const noFeedback: State = { score: null, label: null, textBytes: null };

/** Without the text, which is in no audit row (contract: call-log/feedback-text). */
function stateOf({ score, label, text }: Pick<CallFeedback, 'score' | 'label' | 'text'>): State {
  return { score, label, textBytes: text?.length ?? null };
}

export const feedbackOperations = [setFeedback];
