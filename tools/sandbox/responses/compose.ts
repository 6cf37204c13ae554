import { type Choice, compose } from '#tools/sandbox/chat/compose';
import type { PrefixCache } from '#tools/sandbox/content/prefix-cache';
import type { Truth } from '#tools/sandbox/dialect';
import type { ResponsesAsk } from '#tools/sandbox/responses/ask';
import type { Behaviour } from '#tools/sandbox/scenario/behaviour';

/** A one-pixel picture. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** Input tokens that the results of a search add. */
const searchTokens = 1_000;

/** One item of the output. */
export type OutputItem =
  | {
      readonly kind: 'reasoning';
      readonly id: string;
      readonly tokens: number;
      readonly sealed: string | null;
    }
  | { readonly kind: 'search'; readonly id: string; readonly query: string }
  | { readonly kind: 'image'; readonly id: string; readonly result: string; readonly partials: number }
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly choice: Choice;
      readonly name: string;
      readonly callId: string;
    }
  | { readonly kind: 'message'; readonly id: string; readonly choice: Choice };

/** An answer, to be sent whole or in events. */
export interface Composition {
  readonly items: readonly OutputItem[];
  /** The budget cut it short. */
  readonly incomplete: boolean;
  readonly truth: Truth;
  /** What tools used, besides the truth, as the answer reports it. */
  readonly toolUsage: object;
}

/** What decides an answer besides its request. */
export interface Circumstances {
  /** The model, without its directives. */
  readonly base: string;
  readonly behaviour: Behaviour;
  readonly cache: PrefixCache;
}

/**
 * Decides the answer of a request.
 * @param previous what it continues: its tokens are input again.
 * @param suffix of every item's id.
 * @throws ProviderFault 404 for an unknown model, 400 if budget or context do not fit it.
 */
export function composeResponse(
  ask: ResponsesAsk,
  { base, behaviour, cache }: Circumstances,
  previous: { readonly transcript: string; readonly tokens: number } | null,
  { suffix, seal }: { readonly suffix: string; readonly seal: (id: string) => string },
): Composition {
  const { choices, truth } = compose(
    {
      ...ask,
      // If a tool answered last, its words are echoed.
      prompt: ask.answersTool ? (ask.transcript.split('\n').at(-1) ?? '') : ask.prompt,
      transcript: `${previous?.transcript ?? ''}${ask.transcript}`,
      inputTokens: ask.inputTokens + (previous?.tokens ?? 0),
    },
    base,
    behaviour,
    cache,
  );
  const [choice] = choices;
  if (!choice) throw new Error('a response has one choice');
  const items: OutputItem[] = [];
  if (choice.reasoning > 0) {
    const id = `rs_${suffix}`;
    items.push({
      kind: 'reasoning',
      id,
      tokens: choice.reasoning,
      sealed: ask.sealsReasoning ? seal(id) : null,
    });
  }
  if (ask.searches) items.push({ kind: 'search', id: `ws_${suffix}`, query: ask.prompt.slice(0, 80) });
  if (ask.imageModel !== null) {
    items.push({ kind: 'image', id: `ig_${suffix}`, result: PICTURE, partials: ask.partialImages });
  }
  if (choice.tool) {
    const { id: callId, name } = choice.tool;
    items.push({ kind: 'call', id: `fc_${suffix}`, choice, name, callId });
  } else {
    items.push({ kind: 'message', id: `msg_${suffix}`, choice });
  }
  return {
    items,
    incomplete: choice.finish === 'length',
    truth: { ...truth, inputTokens: truth.inputTokens + (ask.searches ? searchTokens : 0) },
    toolUsage: toolUsage(ask),
  };
}

/** A picture costs 40 tokens of text in, and 8 tokens of text and 272 of image out. */
function toolUsage({ imageModel, searches }: ResponsesAsk): object {
  const draws = imageModel === null ? 0 : 1;
  return {
    image_gen: {
      input_tokens: 40 * draws,
      input_tokens_details: { text_tokens: 40 * draws, image_tokens: 0 },
      output_tokens: 280 * draws,
      output_tokens_details: { text_tokens: 8 * draws, image_tokens: 272 * draws },
      total_tokens: 320 * draws,
    },
    web_search: { num_requests: searches ? 1 : 0 },
  };
}
