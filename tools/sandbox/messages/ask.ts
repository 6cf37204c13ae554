import { schemaOf, type TextAsk } from '#tools/sandbox/chat/ask';
import { imageTokens, textTokens } from '#tools/sandbox/content/tokens';
import { readJson, record, type ToolChoice } from '#tools/sandbox/content/tool-call';
import type { ReceivedRequest } from '#tools/sandbox/dialect';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** What a messages request asks for. */
export interface MessagesAsk extends TextAsk {
  readonly stops: readonly string[];
  readonly fast: boolean;
  /** Model of an advisor tool, which is asked once; null: none. */
  readonly advisor: string | null;
  /** The first model to use instead if the requested one declines, as it does for a prompt with "DECLINE". */
  readonly fallback: string | null;
  /** A web search is declared, and the prompt says "search". */
  readonly searches: boolean;
  /** Text up to the last cache mark; "" without one. */
  readonly cachedPrefix: string;
  /** How long a cache mark keeps it. */
  readonly ttl: '5m' | '1h';
}

/** @throws ProviderFault 400 with the family's message. */
export function readMessagesAsk({ body, headers }: ReceivedRequest, counts: boolean): MessagesAsk {
  if (!headers['anthropic-version']) refuse('anthropic-version: header is required');
  const asked = readJson(body, 'The request body is not valid JSON');
  if (typeof asked.model !== 'string') return refuse('model: Field required');
  if (!Array.isArray(asked.messages)) return refuse('messages: Field required');
  if (asked.messages.length === 0) return refuse('messages: at least one message is required');
  // 0 is legal: it only fills the cache.
  const budget = asked.max_tokens;
  if (!counts && budget === undefined) refuse('max_tokens: Field required');
  if (!counts && (typeof budget !== 'number' || !Number.isInteger(budget) || budget < 0)) {
    refuse('max_tokens: Input should be a valid integer');
  }
  const tools = [asked.tools ?? []].flat().map(record);
  const typed = (prefix: string) => tools.find(({ type }) => String(type).startsWith(prefix));
  const format = record(asked.output_config).format ?? asked.output_format;
  const input = readInput(asked.system, asked.messages, asked.tools);
  return {
    model: asked.model,
    stream: asked.stream === true,
    budget: typeof budget === 'number' ? budget : null,
    stops: [asked.stop_sequences ?? []].flat().map(String),
    fast: asked.speed === 'fast',
    tools: tools.flatMap(({ name, input_schema: parameters }) =>
      typeof name === 'string' && parameters !== undefined ? [{ name, parameters }] : [],
    ),
    toolChoice: readToolChoice(record(asked.tool_choice)),
    schema: schemaOf(format, record(format)),
    advisor: nameIn(typed('advisor_')),
    fallback: nameIn(record([asked.fallbacks ?? []].flat()[0])),
    searches: typed('web_search_') !== undefined && input.prompt.includes('search'),
    ...input,
  };
}

function refuse(message: string): never {
  throw new ProviderFault(400, message);
}

function nameIn(entry: Record<string, unknown> | undefined): string | null {
  return typeof entry?.model === 'string' ? entry.model : null;
}

function readToolChoice({ type, name }: Record<string, unknown>): ToolChoice {
  if (type === 'tool' && typeof name === 'string') return { name };
  if (type === 'none') return 'none';
  return type === 'any' ? 'required' : 'auto';
}

type Input = Pick<MessagesAsk, 'prompt' | 'inputTokens' | 'cachedPrefix' | 'ttl'>;

/** 3 tokens to prime the answer, 4 around each message, plus the tokens of its blocks. */
function readInput(system: unknown, messages: readonly unknown[], tools: unknown): Input {
  let text = tools === undefined || tools === null ? '' : JSON.stringify(tools);
  const found = {
    prompt: '',
    inputTokens: 3 + textTokens(text),
    cachedPrefix: '',
    ttl: '5m' as Input['ttl'],
  };
  for (const entry of [{ role: 'system', content: system ?? [] }, ...messages]) {
    const message = record(entry);
    const said: string[] = [];
    if (message.role !== 'system') found.inputTokens += 4;
    for (const block of blocksIn(message.content)) {
      const words = typeof block.text === 'string' ? block.text : '';
      if (words) said.push(words);
      text += `${String(message.role)}\n${words}`;
      found.inputTokens += weightOf(block, words);
      if (!block.cache_control) continue;
      found.cachedPrefix = text;
      if (record(block.cache_control).ttl === '1h') found.ttl = '1h';
    }
    if (message.role === 'user' && said.length > 0) found.prompt = said.join('\n');
  }
  return found;
}

function blocksIn(content: unknown): Record<string, unknown>[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.map(record) : [];
}

function weightOf(block: Record<string, unknown>, words: string): number {
  if (block.type === 'image') return imageTokens('high');
  if (block.type === 'text') return textTokens(words);
  return textTokens(JSON.stringify(block));
}
