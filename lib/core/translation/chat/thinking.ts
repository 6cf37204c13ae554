import type { Field } from '#lib/core/translation/field';
import { readMark } from '#lib/core/translation/thinking-mark';

/** An entry of `reasoning_details`, which compatible servers use for signed thinking. */
export type ThinkingDetail =
  | {
      readonly type: 'reasoning.text';
      readonly text: string;
      readonly signature: string;
      readonly index: number;
    }
  | { readonly type: 'reasoning.encrypted'; readonly data: string; readonly index: number };

/**
 * The mark of a block of thinking in the form that clients know: its text is repeated beside it, because
 * `reasoning_content` has the text of all blocks in one. A mark without a text is an encrypted entry.
 */
export function thinkingDetail(text: string, mark: string, index: number): ThinkingDetail {
  return text === ''
    ? { type: 'reasoning.encrypted', data: mark, index }
    : { type: 'reasoning.text', text, signature: mark, index };
}

export interface ReadThinking {
  readonly text: string;
  readonly field: string | undefined;
}

/** The thinking of an earlier answer, block by block. */
export function readThinking(message: Field): readonly ReadThinking[] {
  const [content, reasoning] = ['reasoning_content', 'reasoning'].map((name) => message.get(name));
  const text =
    [content, reasoning].map((field) => field?.maybe((one) => one.text())).find((one) => one) ?? '';
  const blocks = readDetails(message.get('reasoning_details'));
  const first = blocks.findIndex(({ field }) => readMark(field)?.toolCallId === undefined);
  if (first < 0) return [{ text, field: undefined }, ...blocks];
  // A client that does not repeat the texts has them in one.
  if (blocks.some((block) => block.text !== '')) return blocks;
  return blocks.map((block, at) => (at === first ? { ...block, text } : block));
}

/** Entries that were streamed in pieces have the same index. */
function readDetails(details: Field): readonly ReadThinking[] {
  const blocks: { text: string; field: string | undefined; index: unknown }[] = [];
  for (const detail of details.items()) {
    const optional = (name: string) => detail.get(name).maybe((field) => field.text());
    const piece = {
      text: optional('text') ?? optional('summary') ?? '',
      field: optional('signature') ?? optional('data'),
      index: detail.get('index').value ?? undefined,
    };
    const last = blocks.at(-1);
    if (last && last.field === undefined && piece.index !== undefined && last.index === piece.index) {
      last.text += piece.text;
      last.field = piece.field;
    } else blocks.push(piece);
  }
  return blocks;
}
