import { audioTokens, imageTokens, textTokens } from '#tools/sandbox/content/tokens';
import { readJson, record, type Tool, type ToolChoice } from '#tools/sandbox/content/tool-call';
import { missingParameter, ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** What an answer of any text family is composed from. */
export interface TextAsk {
  readonly model: string;
  readonly stream: boolean;
  /** Output tokens of each choice; null: not given. */
  readonly budget: number | null;
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  /** The JSON schema that its text must follow; null: any text. */
  readonly schema: object | null;
  /** The last user message's text. */
  readonly prompt: string;
  readonly inputTokens: number;
  /** 1 if absent. */
  readonly choices?: number;
  /** The answer is spoken: a voice is named, and audio is one of the allowed outputs. */
  readonly spoken?: boolean;
  readonly stops?: readonly string[];
  readonly serviceTier?: string | null;
  readonly cacheKey?: string | null;
  /** Everything that a prefix cache sees, in order. */
  readonly transcript?: string;
}

/** What a chat request asks for, read as leniently as providers do. */
export interface ChatAsk extends TextAsk {
  readonly spoken: boolean;
  readonly includeUsage: boolean;
  readonly obfuscate: boolean;
  /** Parts of the input. */
  readonly audioTokens: number;
  readonly imageTokens: number;
}

/** @throws ProviderFault 400 with the chat family's message. */
export function readChatAsk(body: Buffer): ChatAsk {
  const asked = readJson(body);
  if (typeof asked.model !== 'string') throw new ProviderFault(400, 'you must provide a model parameter');
  if (!Array.isArray(asked.messages) || asked.messages.length === 0) throw missingParameter('messages');
  const stream = asked.stream === true;
  if (!stream && asked.stream_options) {
    throw new ProviderFault(400, "'stream_options' needs 'stream'.", null, 'stream_options');
  }
  const options = record(asked.stream_options);
  return {
    model: asked.model,
    stream,
    includeUsage: options.include_usage === true,
    obfuscate: options.include_obfuscation !== false,
    choices: wholeNumber(asked, 'n', 1) ?? 1,
    spoken: [asked.modalities].flat().includes('audio') && 'voice' in record(asked.audio),
    budget: smaller(wholeNumber(asked, 'max_tokens', 1), wholeNumber(asked, 'max_completion_tokens', 1)),
    stops: [asked.stop].flat().filter((stop): stop is string => typeof stop === 'string' && stop !== ''),
    serviceTier: typeof asked.service_tier === 'string' ? asked.service_tier : null,
    cacheKey: typeof asked.prompt_cache_key === 'string' ? asked.prompt_cache_key : null,
    tools: readTools(asked.tools),
    toolChoice: readToolChoice(asked.tool_choice),
    schema: schemaOf(asked.response_format, record(record(asked.response_format).json_schema)),
    ...readMessages(asked.messages, asked.tools),
  };
}

/** The schema of JSON for which none is given. */
export const anyJson = { type: 'object', properties: { answer: { type: 'string' } } };

/**
 * The schema that a text format asks for, as chat, responses and messages name it; null: any text.
 * @param holder the object that contains the schema.
 */
export function schemaOf(format: unknown, holder: Readonly<Record<string, unknown>>): object | null {
  const { type } = record(format);
  if (type === 'json_object') return anyJson;
  return type === 'json_schema' ? record(holder.schema) : null;
}

function wholeNumber(asked: Record<string, unknown>, key: string, least: number): number | null {
  const value = asked[key];
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least) return value;
  throw new ProviderFault(
    400,
    `Invalid '${key}': expected an integer >= ${least}.`,
    'integer_below_min_value',
    key,
  );
}

function smaller(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

function readTools(tools: unknown): Tool[] {
  if (!Array.isArray(tools)) return [];
  const declared = tools.map((tool) => record(record(tool).function));
  return declared.flatMap(({ name, parameters }) => (typeof name === 'string' ? [{ name, parameters }] : []));
}

function readToolChoice(choice: unknown): ToolChoice {
  if (choice === 'none' || choice === 'required') return choice;
  const { name } = record(record(choice).function);
  return typeof name === 'string' ? { name } : 'auto';
}

type Input = Pick<ChatAsk, 'prompt' | 'transcript' | 'inputTokens' | 'audioTokens' | 'imageTokens'>;

/** 3 tokens to prime the answer, 4 around each message, plus the tokens of its parts. */
function readMessages(messages: readonly unknown[], tools: unknown): Input {
  const declared = tools === undefined || tools === null ? '' : JSON.stringify(tools);
  const lines = [declared];
  const sum = { text: 3 + textTokens(declared), audio: 0, image: 0 };
  let prompt = '';
  for (const entry of messages) {
    const message = record(entry);
    const parts = Array.isArray(message.content) ? message.content.map(record) : [{ text: message.content }];
    const text = parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : [])).join('\n');
    if (message.role === 'user') prompt = text;
    lines.push(`${String(message.role)}\n${text}`);
    sum.text +=
      4 + textTokens(text) + textTokens(message.tool_calls ? JSON.stringify(message.tool_calls) : '');
    for (const part of parts) {
      const { type, image_url: image, input_audio: audio, file } = part as Record<string, unknown>;
      if (type === 'image_url') sum.image += imageTokens(record(image).detail);
      if (type === 'input_audio') sum.audio += audioTokens(String(record(audio).data ?? ''));
      if (type === 'file') sum.text += textTokens(String(record(file).file_data ?? ''));
    }
  }
  const inputTokens = sum.text + sum.audio + sum.image;
  return {
    prompt,
    transcript: lines.join('\n'),
    inputTokens,
    audioTokens: sum.audio,
    imageTokens: sum.image,
  };
}
