import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { chat } from '#lib/core/families/chat';
import { type JsonObject, listIn, textIn } from '#lib/core/families/reading/json';
import { BROKEN, breakReason, partsOf } from '#lib/core/translation/answer-parts';
import { type ThinkingDetail, thinkingDetail } from '#lib/core/translation/chat/thinking';
import type { AnswerFacts, AnswerPart, StreamWriter, WholeAnswer } from '#lib/core/translation/conversation';
import { Citations, restOf, tokensOf, type UrlCitation } from '#lib/core/translation/openai/answer';
import { customInput } from '#lib/core/translation/openai/tools';
import { interrupted, readProviderError } from '#lib/core/translation/provider-error';
import { isSigned, mergeMetadata } from '#lib/core/translation/signed';
import { markThinking } from '#lib/core/translation/thinking-mark';
import { UniqueIds } from '#lib/core/translation/unique-ids';
import type { TokenFigures } from '#lib/core/translation/usage-figures';

type Finish = Extract<AnswerPart, { type: 'finish' }>;
type ToolCall = Extract<AnswerPart, { type: 'tool-call' }>;

/** Writes a streamed chat completion. */
export function createWriter(facts: AnswerFacts): StreamWriter {
  return new ChatStream(facts);
}

/** The same answer in one piece: what the deltas add up to. */
export function writeWhole(answer: WholeAnswer, facts: AnswerFacts): JsonObject {
  const deltas = new Deltas(facts);
  const message = new Message();
  for (const part of partsOf(answer)) for (const delta of deltas.of(part)) message.add(delta);
  const { finishReason, usage, providerMetadata } = answer;
  return {
    ...headOf(facts, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: message.object(),
        logprobs: null,
        finish_reason: deltas.finishReason(finishReason),
      },
    ],
    usage: usageObject(tokensOf(usage)),
    ...tierOf(providerMetadata),
  };
}

class ChatStream implements StreamWriter {
  readonly #facts: AnswerFacts;
  readonly #deltas: Deltas;
  #begun = false;
  #ended = false;

  constructor(facts: AnswerFacts) {
    this.#facts = facts;
    this.#deltas = new Deltas(facts);
  }

  write(part: AnswerPart): string {
    if (this.#ended) return '';
    switch (part.type) {
      case 'ping':
        return chat.signOfLife ?? '';
      case 'response-metadata':
        return this.#begin();
      case 'error':
        return this.breakOff(readProviderError(part.error).message);
      case 'finish': {
        const reason = breakReason(part.finishReason);
        return reason === null ? this.#finish(part) : this.breakOff(reason);
      }
      default:
        return this.#said(part);
    }
  }

  breakOff(message: string): string {
    if (this.#ended) return '';
    this.#ended = true;
    return chat.breakFrame({ message: message || interrupted, code: BROKEN }, 0, undefined) ?? '';
  }

  #begin(): string {
    if (this.#begun) return '';
    this.#begun = true;
    return this.#chunk({ role: 'assistant', content: '' });
  }

  #said(part: AnswerPart): string {
    const deltas = this.#deltas.of(part);
    return deltas.length === 0 ? '' : this.#begin() + deltas.map((delta) => this.#chunk(delta)).join('');
  }

  #finish(part: Finish): string {
    const said = this.#begin() + this.#said(part);
    this.#ended = true;
    const end = this.#chunk({}, this.#deltas.finishReason(part.finishReason), tierOf(part.providerMetadata));
    const usage = usageObject(tokensOf(part.usage));
    const asked = this.#facts.echo.includeUsage === true && usage !== null;
    const told = asked
      ? frameOf({ ...headOf(this.#facts, 'chat.completion.chunk'), choices: [], usage })
      : '';
    return `${said}${end}${told}data: [DONE]\n\n`;
  }

  #chunk(delta: Delta, finishReason: string | null = null, more: JsonObject = {}): string {
    return frameOf({
      ...headOf(this.#facts, 'chat.completion.chunk'),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
      ...(this.#facts.echo.includeUsage === true && { usage: null }),
      ...more,
    });
  }
}

interface Thinking {
  text: string;
  metadata: SharedV4ProviderMetadata;
}

/** A call that is being written. */
interface Call {
  readonly index: number;
  /** As the client sees it. */
  readonly id: string;
  /** Arguments that were sent so far. */
  streamed: string;
}

/** The parts of an answer as the deltas of a message. */
class Deltas {
  readonly #maker: string;
  readonly #customTools: readonly unknown[];
  readonly #thinking = new Map<string, Thinking>();
  /** By the provider's id. */
  readonly #calls = new Map<string, Call>();
  readonly #ids = new UniqueIds();
  #called = 0;
  readonly #citations = new Citations();
  #details = 0;

  constructor({ maker, echo }: AnswerFacts) {
    this.#maker = maker;
    this.#customTools = listIn(echo.customTools);
  }

  of(part: AnswerPart): readonly Delta[] {
    switch (part.type) {
      case 'text-delta':
        return part.delta === '' ? [] : [{ content: part.delta }];
      case 'text-end':
        return annotations(this.#citations.placed(part.citations));
      case 'source':
        this.#citations.source(part);
        return [];
      case 'reasoning-start':
        this.#thinking.set(part.id, { text: '', metadata: part.providerMetadata ?? {} });
        return [];
      case 'reasoning-delta':
        return this.#think(part.id, part.delta, part.providerMetadata);
      case 'reasoning-end': {
        this.#think(part.id, '', part.providerMetadata);
        return this.#endThinking(part.id);
      }
      case 'tool-input-start':
        // Text that is not JSON becomes JSON in the call itself; a tool of plain text gets its text there.
        if (part.providerExecuted || part.inputEncoding === 'text') return [];
        return this.#customTools.includes(part.toolName) ? [] : this.#beginCall(part.id, part.toolName);
      case 'tool-input-delta':
        return this.#argue(part.id, part.delta);
      case 'tool-call':
        return part.providerExecuted ? [] : this.#call(part);
      case 'finish': {
        const marks = [...this.#thinking.keys()].flatMap((id) => this.#endThinking(id));
        return [...marks, ...annotations(this.#citations.takeUnplaced())];
      }
      default:
        return [];
    }
  }

  finishReason(reason: Finish['finishReason']): string {
    // In one piece, an answer that failed has no error event; compatible servers report it like this.
    if (breakReason(reason) !== null) return 'error';
    if (reason.unified === 'length') return 'length';
    if (reason.unified === 'content-filter') return 'content_filter';
    return this.#called > 0 ? 'tool_calls' : 'stop';
  }

  #think(id: string, delta: string, metadata: SharedV4ProviderMetadata | undefined): readonly Delta[] {
    const block = this.#thinking.get(id) ?? { text: '', metadata: {} };
    this.#thinking.set(id, { text: block.text + delta, metadata: mergeMetadata(block.metadata, metadata) });
    return delta === '' ? [] : [{ reasoning_content: delta }];
  }

  #endThinking(id: string): readonly Delta[] {
    const block = this.#thinking.get(id);
    this.#thinking.delete(id);
    if (!block || !isSigned(block.metadata)) return [];
    return [this.#detail(block.text, markThinking({ maker: this.#maker, metadata: block.metadata }))];
  }

  #detail(text: string, mark: string): Delta {
    this.#details += 1;
    return { reasoning_details: [thinkingDetail(text, mark, this.#details - 1)] };
  }

  #beginCall(partId: string, name: string): readonly Delta[] {
    const { index, id } = this.#newCall(partId);
    return [{ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }];
  }

  #newCall(partId: string): Call {
    const call = { index: this.#called, id: this.#ids.take(partId), streamed: '' };
    this.#called += 1;
    this.#calls.set(partId, call);
    return call;
  }

  #argue(partId: string, delta: string): readonly Delta[] {
    const call = this.#calls.get(partId);
    if (!call || delta === '') return [];
    call.streamed += delta;
    return [{ tool_calls: [{ index: call.index, function: { arguments: delta } }] }];
  }

  #call({ toolCallId: partId, toolName: name, input, providerMetadata }: ToolCall): readonly Delta[] {
    const isCustom = this.#customTools.includes(name);
    const begun = isCustom || this.#calls.has(partId) ? [] : this.#beginCall(partId, name);
    const { index, id, streamed } = this.#calls.get(partId) ?? this.#newCall(partId);
    const said: readonly Delta[] = isCustom
      ? [{ tool_calls: [{ index, id, type: 'custom', custom: { name, input: customInput(input) } }] }]
      : this.#argue(partId, restOf(input, streamed));
    this.#calls.delete(partId);
    return [...begun, ...said, ...this.#markCall(id, providerMetadata)];
  }

  #markCall(toolCallId: string, metadata: SharedV4ProviderMetadata | undefined): readonly Delta[] {
    if (!metadata || !isSigned(metadata)) return [];
    return [this.#detail('', markThinking({ maker: this.#maker, metadata, toolCallId }))];
  }
}

/** A piece of the message. */
interface Delta {
  readonly role?: 'assistant';
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly reasoning_details?: readonly ThinkingDetail[];
  readonly annotations?: readonly JsonObject[];
  readonly tool_calls?: readonly CallDelta[];
}

type CallDelta =
  | { readonly index: number; readonly function: { readonly arguments: string } }
  | ({ readonly index: number; readonly id: string } & (
      | {
          readonly type: 'function';
          readonly function: { readonly name: string; readonly arguments: string };
        }
      | { readonly type: 'custom'; readonly custom: { readonly name: string; readonly input: string } }
    ));

/** A message that deltas are added to, as clients do it. */
class Message {
  #content: string | null = null;
  #thinking: string | undefined;
  readonly #details: ThinkingDetail[] = [];
  readonly #annotations: JsonObject[] = [];
  readonly #calls: CallDelta[] = [];

  add(delta: Delta): void {
    if (delta.content !== undefined) this.#content = (this.#content ?? '') + delta.content;
    if (delta.reasoning_content !== undefined)
      this.#thinking = (this.#thinking ?? '') + delta.reasoning_content;
    this.#details.push(...(delta.reasoning_details ?? []));
    this.#annotations.push(...(delta.annotations ?? []));
    this.#calls.push(...(delta.tool_calls ?? []));
  }

  object(): JsonObject {
    return {
      role: 'assistant',
      content: this.#content,
      refusal: null,
      ...(this.#thinking !== undefined && { reasoning_content: this.#thinking }),
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
      ...(this.#annotations.length > 0 && { annotations: this.#annotations }),
      ...(this.#calls.length > 0 && {
        tool_calls: this.#calls.filter((call) => 'id' in call).map((call) => this.#whole(call)),
      }),
    };
  }

  #whole({ index, ...call }: Extract<CallDelta, { id: string }>): JsonObject {
    if (call.type === 'custom') return call;
    const pieces = this.#calls.flatMap((one) =>
      one.index === index && 'function' in one ? one.function.arguments : [],
    );
    return { ...call, function: { name: call.function.name, arguments: pieces.join('') } };
  }
}

function annotations(citations: readonly UrlCitation[]): readonly Delta[] {
  if (citations.length === 0) return [];
  return [{ annotations: citations.map((one) => ({ type: 'url_citation', url_citation: one })) }];
}

function headOf({ id, model, createdSeconds }: AnswerFacts, object: string): JsonObject {
  return { id: `chatcmpl-${id}`, object, created: createdSeconds, model };
}

function tierOf(metadata: SharedV4ProviderMetadata | undefined): JsonObject {
  const tier = textIn(metadata?.openai?.serviceTier);
  return tier === null ? {} : { service_tier: tier };
}

function usageObject(tokens: TokenFigures | null): JsonObject | null {
  return (
    tokens && {
      prompt_tokens: tokens.input,
      completion_tokens: tokens.output,
      total_tokens: tokens.input + tokens.output,
      prompt_tokens_details: { cached_tokens: tokens.cacheRead, cache_write_tokens: tokens.cacheWrite },
      completion_tokens_details: { reasoning_tokens: tokens.reasoning },
    }
  );
}

function frameOf(event: JsonObject): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
