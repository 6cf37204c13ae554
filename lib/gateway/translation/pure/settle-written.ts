import { type JsonObject, objectIn, parseJson } from '#lib/core/families/reading/json';
import type { Conversation, TextProtocol } from '#lib/core/translation/conversation';

/** Fields that packages leave out for models that reject them, by the name that each protocol has for them. */
const sampling = {
  temperature: ['temperature', 'temperature'],
  topP: ['top_p', 'topP'],
  topK: ['top_k', 'topK'],
} as const;

/** The least budget of thinking that Anthropic accepts, tokens. */
const LEAST_THINKING = 1_024;
/** The share of the output budget that thinking may have at most; the rest is for the answer. */
const MOST_OF_BUDGET = 0.8;

/** A written request as it is sent. */
export interface Settled {
  readonly body: Uint8Array;
  /** Fields of the client's request that the package has left out, under the client's names. */
  readonly dropped: readonly string[];
}

/**
 * Checks what a package has written of what it may have changed by itself (docs/decisions/translation.md): thinking is
 * part of the output budget instead of being added to it, and fields that the model rejects are named.
 * @param budget output tokens, thinking included.
 */
export function settleWritten(
  body: Uint8Array,
  {
    from,
    to,
    conversation,
    budget,
  }: {
    readonly from: TextProtocol;
    readonly to: TextProtocol;
    readonly conversation: Conversation;
    readonly budget: number;
  },
): Settled {
  const asked = Object.keys(sampling).filter((name) => name in conversation) as (keyof typeof sampling)[];
  const rejects = to === 'messages' || to === 'responses';
  const thinks = to === 'messages' && Buffer.from(body).includes('"budget_tokens"');
  if (!thinks && (!rejects || asked.length === 0)) return { body, dropped: [] };
  const written = objectIn(parseJson(Buffer.from(body).toString('utf8'))) ?? {};
  const dropped = asked
    .filter((name) => !(sampling[name][0] in written))
    .map((name) =>
      from === 'generate-content' ? `generationConfig.${sampling[name][1]}` : sampling[name][0],
    );
  const fitted = thinks ? fitThinking(written, budget) : null;
  return { body: fitted === null ? body : Buffer.from(JSON.stringify(fitted)), dropped };
}

/** @returns null: the body has no budget of thinking. */
function fitThinking(body: JsonObject, budget: number): JsonObject | null {
  const thinking = objectIn(body.thinking);
  if (typeof thinking?.budget_tokens !== 'number') return null;
  const most = Math.floor(budget * MOST_OF_BUDGET);
  const { thinking: _, ...rest } = body;
  const bounded = { ...rest, max_tokens: budget };
  if (most < LEAST_THINKING) return bounded;
  return { ...bounded, thinking: { ...thinking, budget_tokens: Math.min(thinking.budget_tokens, most) } };
}
