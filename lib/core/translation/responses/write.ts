import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { type JsonObject, objectIn, parseJson, textIn } from '#lib/core/families/reading/json';
import { responses } from '#lib/core/families/responses';
import { BROKEN, breakReason, partsOf } from '#lib/core/translation/answer-parts';
import type { AnswerFacts, AnswerPart, StreamWriter, WholeAnswer } from '#lib/core/translation/conversation';
import { Citations, restOf, tokensOf } from '#lib/core/translation/openai/answer';
import { interrupted, readProviderError } from '#lib/core/translation/provider-error';
import {
  CallItem,
  MessageItem,
  type OpenItem,
  ReasoningItem,
  SearchItem,
  type Send,
} from '#lib/core/translation/responses/items';
import { clientToolOf } from '#lib/core/translation/responses/tools';
import { isSigned, mergeMetadata } from '#lib/core/translation/signed';
import { markThinking } from '#lib/core/translation/thinking-mark';
import { UniqueIds } from '#lib/core/translation/unique-ids';

type Part<Type extends AnswerPart['type']> = Extract<AnswerPart, { type: Type }>;

/** Writes a streamed response. */
export function createWriter(facts: AnswerFacts): StreamWriter {
  return new ResponseStream(facts);
}

/** The same response in one piece, as the last event of a stream has it. */
export function writeWhole(answer: WholeAnswer, facts: AnswerFacts): JsonObject {
  const stream = new ResponseStream(facts);
  for (const part of partsOf(answer)) stream.write(part);
  return stream.response;
}

/** Text or thinking, of which one item is open at a time: a client may take each delta for the newest item. */
interface Said {
  /** Of the block in the stream of parts. */
  readonly id: string;
  readonly item: MessageItem | ReasoningItem;
  readonly send: Send;
}

interface Call {
  /** As the client sees it. */
  readonly id: string;
  readonly item: CallItem;
  readonly send: Send;
  /** Its signature was written before it. */
  readonly isMarked: boolean;
}

class ResponseStream implements StreamWriter {
  readonly #facts: AnswerFacts;
  response: JsonObject;
  #sequence = 0;
  #begun = false;
  #ended = false;
  readonly #output: OpenItem[] = [];
  #said: Said | null = null;
  /** Blocks of thinking that have an item with text, which has their signature too. */
  readonly #thought = new Set<string>();
  /** Metadata of thinking, by the block's id. */
  readonly #metadata = new Map<string, SharedV4ProviderMetadata>();
  /** Calls that are being written, by the provider's ids. */
  readonly #calls = new Map<string, Call>();
  readonly #ids = new UniqueIds();
  readonly #citations = new Citations();

  constructor(facts: AnswerFacts) {
    this.#facts = facts;
    this.response = responseOf(facts);
  }

  write(part: AnswerPart): string {
    if (this.#ended) return '';
    switch (part.type) {
      case 'ping':
        return responses.signOfLife ?? '';
      case 'response-metadata':
        return this.#begin();
      case 'text-delta':
        return part.delta === '' ? '' : this.#say(part.id, 'message', part.delta);
      case 'text-end':
        return this.#endText(part);
      case 'source':
        this.#citations.source(part);
        return '';
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#think(part);
      case 'tool-input-start':
        // Text that is not JSON becomes JSON in the call itself.
        return part.providerExecuted || part.inputEncoding === 'text' ? '' : this.#beginCall(part);
      case 'tool-input-delta': {
        const call = this.#calls.get(part.id);
        return call && part.delta !== '' ? call.item.add(part.delta, call.send) : '';
      }
      case 'tool-call':
        return part.providerExecuted ? this.#search(part) : this.#endCall(part);
      case 'error':
        return this.breakOff(readProviderError(part.error).message);
      case 'finish':
        return this.#finish(part);
      default:
        return '';
    }
  }

  breakOff(message: string): string {
    if (this.#ended) return '';
    this.#ended = true;
    const error = { code: BROKEN, message: message || interrupted };
    this.response = { ...this.response, status: 'failed', error };
    return responses.breakFrame(error, this.#sequence, this.#begun ? this.response : undefined) ?? '';
  }

  #begin(): string {
    if (this.#begun) return '';
    this.#begun = true;
    const { response } = this;
    return this.#event('response.created', { response }) + this.#event('response.in_progress', { response });
  }

  #say(id: string, kind: 'message' | 'reasoning', delta: string): string {
    const closed = this.#said?.id === id && isKind(this.#said.item, kind) ? '' : this.#closeSaid();
    if (this.#said) return closed + this.#said.item.add(delta, this.#said.send);
    const number = this.#output.length;
    const item =
      kind === 'message'
        ? new MessageItem(this.#id('msg', number))
        : new ReasoningItem(this.#id('rs', number));
    const { opened, send } = this.#open(item);
    this.#said = { id, item, send };
    if (kind === 'reasoning') this.#thought.add(id);
    return closed + opened + item.add(delta, send);
  }

  #endText({ id, citations }: Part<'text-end'>): string {
    if (this.#said?.id !== id || !(this.#said.item instanceof MessageItem)) return '';
    const { item, send } = this.#said;
    const cited = this.#citations.placed(citations).map((citation) => item.cite(citation, send));
    return cited.join('') + this.#closeSaid();
  }

  #think(part: Part<'reasoning-start'> | Part<'reasoning-delta'> | Part<'reasoning-end'>): string {
    const { id } = part;
    this.#metadata.set(id, mergeMetadata(this.#metadata.get(id) ?? {}, part.providerMetadata));
    if (part.type === 'reasoning-delta' && part.delta !== '') return this.#say(id, 'reasoning', part.delta);
    if (part.type !== 'reasoning-end') return '';
    return this.#said?.id === id && this.#said.item instanceof ReasoningItem
      ? this.#closeSaid()
      : this.#closeSaid() + this.#signAlone(id);
  }

  /** Thinking that is signed and has no text. */
  #signAlone(id: string): string {
    if (this.#thought.has(id) || !isSigned(this.#metadata.get(id))) return '';
    return this.#writeMark(this.#takeMark(id));
  }

  /** Unsigned thinking has one too: without it, an item that comes back names what its provider would have to keep. */
  #takeMark(id: string): string {
    const metadata = this.#metadata.get(id) ?? {};
    this.#metadata.delete(id);
    return markThinking({ maker: this.#facts.maker, metadata });
  }

  /** An item of thinking without a text. */
  #writeMark(mark: string): string {
    const item = new ReasoningItem(this.#id('rs', this.#output.length));
    const { opened, send } = this.#open(item);
    item.sign(mark);
    return opened + this.#close(item, send);
  }

  #closeSaid(status: 'completed' | 'incomplete' = 'completed'): string {
    if (!this.#said) return '';
    const { id, item, send } = this.#said;
    this.#said = null;
    if (item instanceof ReasoningItem) {
      item.sign(this.#takeMark(id));
      return this.#close(item, send, status);
    }
    const cited = this.#citations.takeUnplaced().map((citation) => item.cite(citation, send));
    return cited.join('') + this.#close(item, send, status);
  }

  /** A signature of the call comes before it, so that it is there when the client answers. */
  #beginCall(part: Pick<Part<'tool-input-start'>, 'id' | 'toolName' | 'providerMetadata'>): string {
    const id = this.#ids.take(part.id);
    const closed = this.#closeSaid();
    const mark = this.#markCall(id, part.providerMetadata);
    const tool = clientToolOf(this.#facts.echo, part.toolName);
    const item = new CallItem(this.#id(tool.custom ? 'ctc' : 'fc', this.#output.length), id, tool);
    const { opened, send } = this.#open(item);
    this.#calls.set(part.id, { id, item, send, isMarked: mark !== '' });
    return closed + mark + opened;
  }

  #endCall({ toolCallId, toolName, input, providerMetadata }: Part<'tool-call'>): string {
    const start = { id: toolCallId, toolName, ...(providerMetadata && { providerMetadata }) };
    const begun = this.#calls.has(toolCallId) ? '' : this.#beginCall(start);
    const call = this.#calls.get(toolCallId);
    if (!call) return begun;
    this.#calls.delete(toolCallId);
    const rest = restOf(input, call.item.streamed);
    const added = rest === '' ? '' : call.item.add(rest, call.send);
    const mark = call.isMarked ? '' : this.#markCall(call.id, providerMetadata);
    return begun + added + this.#close(call.item, call.send) + mark;
  }

  #markCall(toolCallId: string, metadata: SharedV4ProviderMetadata | undefined): string {
    if (!metadata || !isSigned(metadata)) return '';
    return this.#writeMark(markThinking({ maker: this.#facts.maker, metadata, toolCallId }));
  }

  #search({ toolName, input }: Part<'tool-call'>): string {
    if (toolName !== 'web_search') return '';
    const before = this.#closeSaid();
    const item = new SearchItem(
      this.#id('ws', this.#output.length),
      textIn(objectIn(parseJson(input))?.query) ?? '',
    );
    const { opened, send } = this.#open(item);
    return before + opened + this.#close(item, send);
  }

  #open(item: OpenItem): { opened: string; send: Send } {
    const begun = this.#begin();
    const output_index = this.#output.length;
    this.#output.push(item);
    const { object } = item;
    const send: Send = (type, fields) => this.#event(type, { item_id: object.id, output_index, ...fields });
    const added = this.#event('response.output_item.added', { output_index, item: object });
    return { opened: begun + added + item.open(send), send };
  }

  #close(item: OpenItem, send: Send, status: 'completed' | 'incomplete' = 'completed'): string {
    const closed = item.close(status, send);
    const output_index = this.#output.indexOf(item);
    return closed + this.#event('response.output_item.done', { output_index, item: item.object });
  }

  #finish({ finishReason, usage, providerMetadata }: Part<'finish'>): string {
    const broken = breakReason(finishReason);
    if (broken !== null) return this.breakOff(broken);
    const reason = incompleteReasons[finishReason.unified];
    const status = reason === undefined ? 'completed' : 'incomplete';
    const begun = this.#begin();
    const said =
      this.#closeSaid(status) + [...this.#metadata.keys()].map((id) => this.#signAlone(id)).join('');
    const calls = [...this.#calls.values()].map(({ item, send }) => this.#close(item, send, 'incomplete'));
    this.#ended = true;
    const tier = textIn(providerMetadata?.openai?.serviceTier);
    this.response = {
      ...this.response,
      status,
      incomplete_details: reason === undefined ? null : { reason },
      output: this.#output.map(({ object }) => object),
      usage: usageObject(usage),
      ...(tier !== null && { service_tier: tier }),
    };
    return begun + said + calls.join('') + this.#event(`response.${status}`, { response: this.response });
  }

  #event(type: string, fields: JsonObject): string {
    const sequence_number = this.#sequence;
    this.#sequence += 1;
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`;
  }

  #id(kind: string, number: number): string {
    return `${kind}_${this.#facts.id.replaceAll('-', '')}${number.toString(16).padStart(4, '0')}`;
  }
}

function isKind(item: MessageItem | ReasoningItem, kind: 'message' | 'reasoning'): boolean {
  return item instanceof MessageItem === (kind === 'message');
}

/** Why an answer is not complete, by how it ended. */
const incompleteReasons: Readonly<Record<string, string | undefined>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
};

function usageObject(usage: Part<'finish'>['usage']): JsonObject | null {
  const tokens = tokensOf(usage);
  return (
    tokens && {
      input_tokens: tokens.input,
      input_tokens_details: { cached_tokens: tokens.cacheRead, cache_write_tokens: tokens.cacheWrite },
      output_tokens: tokens.output,
      output_tokens_details: { reasoning_tokens: tokens.reasoning },
      total_tokens: tokens.input + tokens.output,
    }
  );
}

/** The response before it says anything, with what it repeats of the request. */
function responseOf({ id, model, createdSeconds, echo }: AnswerFacts): JsonObject {
  return {
    id: `resp_${id.replaceAll('-', '')}`,
    object: 'response',
    created_at: createdSeconds,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: null,
    truncation: 'disabled',
    usage: null,
    metadata: {},
    ...objectIn(echo.request),
  };
}
