import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';
import type { AnswerPart, WholeAnswer } from '#lib/core/translation/conversation';
import { interrupted } from '#lib/core/translation/provider-error';

/** The code of an error event, as for a native stream that broke (contract: routing/broken-stream). */
export const BROKEN = 'upstream_request_failed';

/** How an answer ended that is no answer; null: it is one. "error" is how some compatible servers say so. */
export function breakReason({ unified, raw }: LanguageModelV4FinishReason): string | null {
  if (unified === 'interrupted') return interrupted;
  return unified === 'error' || raw === 'error'
    ? `The provider ended its answer with "${raw ?? 'error'}".`
    : null;
}

/** A whole answer as the parts of a stream, so that one writer writes both. */
export function* partsOf({
  content,
  finishReason,
  usage,
  providerMetadata,
}: WholeAnswer): Generator<AnswerPart> {
  for (const [index, part] of content.entries()) {
    const id = String(index);
    const meta = part.providerMetadata && { providerMetadata: part.providerMetadata };
    if (part.type === 'text') {
      yield { type: 'text-start', id, ...meta };
      yield { type: 'text-delta', id, delta: part.text };
      yield { type: 'text-end', id, ...(part.citations && { citations: part.citations }) };
    } else if (part.type === 'reasoning') {
      yield { type: 'reasoning-start', id, ...meta };
      yield { type: 'reasoning-delta', id, delta: part.text };
      yield { type: 'reasoning-end', id };
    } else yield part;
  }
  yield { type: 'finish', finishReason, usage, ...(providerMetadata && { providerMetadata }) };
}
