import type { Choice, Composition } from '#lib/sandbox/chat/compose';
import type { Frame, Truth } from '#lib/sandbox/dialect';
import type { ContentAsk } from '#lib/sandbox/generate-content/ask';
import { contentUsage } from '#lib/sandbox/generate-content/usage';
import type { Behaviour } from '#lib/sandbox/scenario/behaviour';

const thought = { text: 'The prompt is answered in its own words.', thought: true };

/** The candidates of a whole answer. */
export function wholeCandidates(ask: ContentAsk, choices: readonly Choice[]): readonly object[] {
  return choices.map((choice, index) => {
    const parts = [...(choice.reasoning > 0 ? [thought] : []), said(choice, [...choice.pieces].join(''))];
    return { ...candidate(index, parts), finishReason: reason(choice), ...grounding(ask) };
  });
}

/** A stream's chunks: thoughts, text, the reason it ended; usage so far on each. */
export function* contentFrames(
  head: object,
  ask: ContentAsk,
  { choices, truth }: Composition,
  behaviour: Behaviour,
  indent: number,
): Generator<Frame> {
  let generated = 0;
  const frame = (
    parts: readonly object[],
    index: number,
    tokens: number,
    content: boolean,
    end = {},
  ): Frame => {
    generated += tokens;
    const last = 'finishReason' in end && index === choices.length - 1;
    const silent = behaviour.usagePlace === 'finish-chunk' && !last;
    const usage = silent ? undefined : contentUsage(ask, truth, behaviour.usage, generated);
    const body = { candidates: [{ ...candidate(index, parts), ...end }], ...told(usage), ...head };
    return { name: null, data: JSON.stringify(body, null, indent), content, tokens, ...seen(usage) };
  };
  for (const [index, choice] of choices.entries()) {
    if (choice.reasoning > 0) yield frame([thought], index, choice.reasoning, false);
    if (choice.tool) {
      const text = [...choice.pieces].join('');
      yield frame([said(choice, text)], index, choice.tokens - choice.reasoning, true);
    } else {
      for (const text of choice.pieces) yield frame([{ text }], index, 1, true);
    }
    yield frame([{ text: '' }], index, 0, false, { finishReason: reason(choice), ...grounding(ask) });
  }
}

/** All that comes for a prompt that is not allowed. */
export function blockedFrame(
  head: object,
  ask: ContentAsk,
  truth: Truth,
  behaviour: Behaviour,
  indent: number,
): Frame {
  const usage = contentUsage(ask, truth, behaviour.usage);
  const body = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, ...told(usage), ...head };
  return { name: null, data: JSON.stringify(body, null, indent), content: false, tokens: 0, ...seen(usage) };
}

function candidate(index: number, parts: readonly object[]): object {
  return { content: { parts, role: 'model' }, index };
}

function said({ tool }: Choice, text: string): object {
  return tool ? { functionCall: { name: tool.name, args: parsed(text) } } : { text };
}

/** Arguments cut off by a budget are no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function reason({ finish }: Choice): string {
  return finish === 'length' ? 'MAX_TOKENS' : 'STOP';
}

function grounding({ searches }: ContentAsk): object {
  return searches ? { groundingMetadata: { webSearchQueries: ['', 'sandbox'] } } : {};
}

function told(usage: object | null | undefined): object {
  return usage === undefined ? {} : { usageMetadata: usage };
}

function seen(usage: object | null | undefined): { usage?: object } {
  return usage ? { usage } : {};
}
