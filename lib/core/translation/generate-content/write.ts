import type {
  LanguageModelV4File,
  LanguageModelV4FinishReason,
  LanguageModelV4Source,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { type JsonObject, objectIn, parseJson } from '#lib/core/families/reading/json';
import { breakReason } from '#lib/core/translation/answer-parts';
import type { AnswerFacts, AnswerPart, StreamWriter, WholeAnswer } from '#lib/core/translation/conversation';
import { readProviderError } from '#lib/core/translation/provider-error';
import { isSigned, mergeMetadata } from '#lib/core/translation/signed';
import { markThinking } from '#lib/core/translation/thinking-mark';
import { UniqueIds } from '#lib/core/translation/unique-ids';
import { figuresOf } from '#lib/core/translation/usage-figures';

/** A call whose arguments cannot be read. */
const malformed = 'MALFORMED_FUNCTION_CALL';

/** Writes SSE events; a client that asked for a JSON array gets their data as its elements. */
export function createWriter(facts: AnswerFacts): StreamWriter {
  return new ContentWriter(facts);
}

/** An answer that is not streamed. */
export function writeWhole(answer: WholeAnswer, facts: AnswerFacts): JsonObject {
  const parts = new Parts(facts);
  const written: JsonObject[] = [];
  for (const part of answer.content) {
    if (part.type === 'text' && part.text !== '') written.push({ text: part.text });
    if (part.type === 'reasoning') {
      const [thought] = part.text === '' ? [] : parts.thought(part.text);
      const signature = parts.endThought(part.providerMetadata ?? {}, part.text !== '');
      // One part, as a whole answer of Google has it.
      if (thought || signature) written.push({ ...signature, ...thought });
    }
    if (part.type === 'tool-call' && part.providerExecuted !== true) written.push(...parts.call(part));
    if (part.type === 'file') written.push(...parts.file(part));
    if (part.type === 'source') parts.cite(part);
  }
  return parts.response(written, { finishReason: parts.reason(answer.finishReason), usage: answer.usage });
}

class ContentWriter implements StreamWriter {
  readonly #parts: Parts;
  /** What the provider has said of thinking that goes on, by the id of its part. */
  readonly #thinking = new Map<string, { metadata: SharedV4ProviderMetadata; said: boolean }>();
  #ended = false;

  constructor(facts: AnswerFacts) {
    this.#parts = new Parts(facts);
  }

  write(part: AnswerPart): string {
    if (this.#ended) return '';
    if (part.type === 'finish') return this.#finish(part);
    if (part.type === 'error') return this.#break(readProviderError(part.error));
    return this.#read(part)
      .map((one) => eventOf(this.#parts.response([one])))
      .join('');
  }

  breakOff(message: string): string {
    return this.#ended ? '' : this.#break({ message, status: null });
  }

  /** The client's SDK throws only at a code from 400 to 599. */
  #break({ message, status }: { message: string; status: number | null }): string {
    this.#ended = true;
    const code = status !== null && status >= 400 && status < 600 ? status : 503;
    return eventOf({ error: { code, message, status: statusNames.get(code) ?? 'UNAVAILABLE' } });
  }

  #read(part: AnswerPart): readonly JsonObject[] {
    switch (part.type) {
      case 'text-delta':
        return part.delta === '' ? [] : [{ text: part.delta }];
      case 'reasoning-start':
      case 'reasoning-delta': {
        const known = this.#thinking.get(part.id) ?? { metadata: {}, said: false };
        const delta = part.type === 'reasoning-delta' ? part.delta : '';
        const metadata = mergeMetadata(known.metadata, part.providerMetadata);
        this.#thinking.set(part.id, { metadata, said: known.said || delta !== '' });
        return delta === '' ? [] : this.#parts.thought(delta);
      }
      case 'reasoning-end': {
        const { metadata = {}, said = false } = this.#thinking.get(part.id) ?? {};
        this.#thinking.delete(part.id);
        const signature = this.#parts.endThought(mergeMetadata(metadata, part.providerMetadata), said);
        return signature ? [signature] : [];
      }
      case 'tool-call':
        return part.providerExecuted === true ? [] : this.#parts.call(part);
      case 'file':
        return this.#parts.file(part);
      case 'source':
        this.#parts.cite(part);
        return [];
      default:
        return [];
    }
  }

  #finish({ finishReason, usage }: Extract<AnswerPart, { type: 'finish' }>): string {
    const broken = finishReason.raw === malformed ? null : breakReason(finishReason);
    if (broken !== null) return this.breakOff(broken);
    this.#ended = true;
    return eventOf(this.#parts.response([], { finishReason: this.#parts.reason(finishReason), usage }));
  }
}

/** CRLF, as Google ends lines; SDKs cannot read anything but `data`. */
function eventOf(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\r\n\r\n`;
}

interface Ending {
  readonly finishReason: string;
  readonly usage: LanguageModelV4Usage;
}

/** The parts of one answer, and what its end says of them. */
class Parts {
  readonly #facts: AnswerFacts;
  readonly #callIds = new UniqueIds();
  readonly #sources: JsonObject[] = [];
  /** Mark of thinking that the next call repeats, because many clients do not keep thoughts. */
  #signature: string | null = null;
  #hasMalformedCall = false;
  #called = false;

  constructor(facts: AnswerFacts) {
    this.#facts = facts;
  }

  /** None for a client that does not want to see thoughts. */
  thought(text: string): JsonObject[] {
    return this.#facts.echo.thoughts === true ? [{ text, thought: true }] : [];
  }

  /** The part that ends a thought with its mark; null: nothing to show. */
  endThought(metadata: SharedV4ProviderMetadata, said: boolean): JsonObject | null {
    const signed = isSigned(metadata);
    if (!signed && !said) return null;
    const mark = markThinking({ maker: this.#facts.maker, metadata });
    if (signed) this.#signature = mark;
    return this.#facts.echo.thoughts === true ? { text: '', thought: true, thoughtSignature: mark } : null;
  }

  /** None if the arguments are not an object of JSON: Google has no other way to say so than the reason of the end. */
  call(call: Extract<AnswerPart, { type: 'tool-call' }>): JsonObject[] {
    const args = call.input.trim() === '' ? {} : objectIn(parseJson(call.input));
    if (args === null) {
      this.#hasMalformedCall = true;
      return [];
    }
    this.#called = true;
    const id = this.#callIds.take(call.toolCallId);
    const { providerMetadata: metadata } = call;
    const own =
      metadata && isSigned(metadata)
        ? markThinking({ maker: this.#facts.maker, metadata, toolCallId: id })
        : this.#signature;
    this.#signature = null;
    return [
      { functionCall: { id, name: call.toolName, args }, ...(own === null ? {} : { thoughtSignature: own }) },
    ];
  }

  file({ mediaType, data }: LanguageModelV4File): JsonObject[] {
    if (data.type === 'url') return [{ fileData: { mimeType: mediaType, fileUri: data.url.href } }];
    const base64 = typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64');
    return [{ inlineData: { mimeType: mediaType, data: base64 } }];
  }

  cite(source: LanguageModelV4Source): void {
    if (source.sourceType === 'url')
      this.#sources.push({ web: { uri: source.url, title: source.title ?? source.url } });
  }

  reason({ unified, raw }: LanguageModelV4FinishReason): string {
    if (this.#hasMalformedCall) return malformed;
    switch (unified) {
      case 'length':
        return 'MAX_TOKENS';
      case 'content-filter':
        return 'SAFETY';
      case 'error':
        return raw === malformed ? raw : 'OTHER';
      case 'stop':
      case 'tool-calls':
        return 'STOP';
      default:
        return this.#called ? 'STOP' : 'OTHER';
    }
  }

  /** A response with these parts. Chats of the SDK forget an answer of which a chunk has no part, so each has one. */
  response(parts: readonly JsonObject[], ending?: Ending): JsonObject {
    const content = { role: 'model', parts: parts.length > 0 ? parts : [{ text: '' }] };
    const end = ending && {
      finishReason: ending.finishReason,
      ...(this.#sources.length > 0 ? { groundingMetadata: { groundingChunks: this.#sources } } : {}),
    };
    return {
      candidates: [{ content, index: 0, ...end }],
      ...(ending ? { usageMetadata: usageFields(ending.usage) } : {}),
      modelVersion: this.#facts.model,
      responseId: this.#facts.id,
    };
  }
}

/** Thoughts stand beside the candidates; what was written to a cache is a part of the prompt. */
function usageFields(usage: LanguageModelV4Usage): JsonObject {
  const { input, cacheRead, output, reasoning } = figuresOf(usage);
  return {
    promptTokenCount: input,
    ...(cacheRead > 0 ? { cachedContentTokenCount: cacheRead } : {}),
    candidatesTokenCount: output - reasoning,
    ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
    totalTokenCount: input + output,
  };
}

const statusNames = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [429, 'RESOURCE_EXHAUSTED'],
  [500, 'INTERNAL'],
  [504, 'DEADLINE_EXCEEDED'],
]);
