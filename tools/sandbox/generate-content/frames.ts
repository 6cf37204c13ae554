import type { Choice, Composition } from '#tools/sandbox/chat/compose';
import { argumentsIn } from '#tools/sandbox/content/tool-call';
import type { Frame, Truth } from '#tools/sandbox/dialect';
import type { ContentAsk } from '#tools/sandbox/generate-content/ask';
import { contentUsage } from '#tools/sandbox/generate-content/usage';
import type { Behaviour } from '#tools/sandbox/scenario/behaviour';

const thought = { text: 'The prompt is answered in its own words.', thought: true };

/** The candidates of a whole answer. */
export function wholeCandidates(ask: ContentAsk, choices: readonly Choice[]): readonly object[] {
  return choices.map((choice, index) => {
    const parts = [...(choice.reasoning > 0 ? [thought] : []), said(choice, [...choice.pieces].join(''))];
    return { ...candidate(index, parts), finishReason: reason(choice), ...grounding(ask) };
  });
}

/** The format of each frame of a stream. */
interface FrameShape {
  /** The members that each frame repeats. */
  readonly head: object;
  /** Indentation of its JSON, spaces. */
  readonly indent: number;
}

/** A stream's chunks: thoughts, text, the reason it ended; usage so far on each. */
export function* contentFrames(
  { head, indent }: FrameShape,
  ask: ContentAsk,
  { choices, truth }: Composition,
  behaviour: Behaviour,
): Generator<Frame> {
  let generated = 0;
  const frame = (
    index: number,
    parts: readonly object[],
    { tokens, content }: Pick<Frame, 'tokens' | 'content'>,
    end = {},
  ): Frame => {
    generated += tokens;
    const last = 'finishReason' in end && index === choices.length - 1;
    const silent = behaviour.usagePlace === 'finish-chunk' && !last;
    const usage = silent ? undefined : contentUsage(ask, truth, behaviour.usage, generated);
    const body = { candidates: [{ ...candidate(index, parts), ...end }], ...reported(usage), ...head };
    return { name: null, data: JSON.stringify(body, null, indent), content, tokens, ...seen(usage) };
  };
  for (const [index, choice] of choices.entries()) {
    if (choice.reasoning > 0) yield frame(index, [thought], { tokens: choice.reasoning, content: false });
    if (choice.tool) {
      const text = [...choice.pieces].join('');
      yield frame(index, [said(choice, text)], { tokens: choice.tokens - choice.reasoning, content: true });
    } else {
      for (const text of choice.pieces) yield frame(index, [{ text }], { tokens: 1, content: true });
    }
    yield frame(
      index,
      [{ text: '' }],
      { tokens: 0, content: false },
      { finishReason: reason(choice), ...grounding(ask) },
    );
  }
}

/** The only frame for a prompt that is not allowed. */
export function blockedFrame(
  { head, indent }: FrameShape,
  ask: ContentAsk,
  truth: Truth,
  behaviour: Behaviour,
): Frame {
  const usage = contentUsage(ask, truth, behaviour.usage);
  const body = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, ...reported(usage), ...head };
  return { name: null, data: JSON.stringify(body, null, indent), content: false, tokens: 0, ...seen(usage) };
}

function candidate(index: number, parts: readonly object[]): object {
  return { content: { parts, role: 'model' }, index };
}

function said({ tool }: Choice, text: string): object {
  return tool ? { functionCall: { name: tool.name, args: argumentsIn(text) } } : { text };
}

function reason({ finish }: Choice): string {
  return finish === 'length' ? 'MAX_TOKENS' : 'STOP';
}

function grounding({ searches }: ContentAsk): object {
  return searches ? { groundingMetadata: { webSearchQueries: ['', 'sandbox'] } } : {};
}

function reported(usage: object | null | undefined): object {
  return usage === undefined ? {} : { usageMetadata: usage };
}

function seen(usage: object | null | undefined): { usage?: object } {
  return usage ? { usage } : {};
}
