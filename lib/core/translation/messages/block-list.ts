import { type JsonObject, listIn, objectIn, parseJson, textIn } from '#lib/core/families/reading/json';
import type { Blocks } from '#lib/core/translation/messages/message-parts';

interface Block {
  fields: JsonObject;
  /** Its input so far, as JSON. */
  json: string;
}

/** The blocks of a message that is not streamed. */
export class BlockList implements Blocks<Block> {
  readonly #blocks: Block[] = [];

  add(fields: JsonObject): Block {
    const block = { fields, json: '' };
    this.#blocks.push(block);
    return block;
  }

  append(block: Block, delta: JsonObject): boolean {
    const { text, thinking, citations } = block.fields;
    const joined = (before: unknown, more: unknown) => (textIn(before) ?? '') + (textIn(more) ?? '');
    if (delta.type === 'text_delta') block.fields = { ...block.fields, text: joined(text, delta.text) };
    if (delta.type === 'thinking_delta') {
      block.fields = { ...block.fields, thinking: joined(thinking, delta.thinking) };
    }
    if (delta.type === 'signature_delta') block.fields = { ...block.fields, signature: delta.signature };
    if (delta.type === 'citations_delta') {
      block.fields = { ...block.fields, citations: [...listIn(citations), delta.citation] };
    }
    if (delta.type === 'input_json_delta') block.json = joined(block.json, delta.partial_json);
    return true;
  }

  end(): void {}

  content(): readonly JsonObject[] {
    return this.#blocks.map(({ fields, json }) =>
      json === '' ? fields : { ...fields, input: inputOf(json) },
    );
  }
}

/** Arguments that are not an object of JSON reach the client as Anthropic advises to send them back. */
function inputOf(json: string): JsonObject {
  return objectIn(parseJson(json)) ?? { INVALID_JSON: json };
}
