import { anyJson, type ChatAsk, type TextAsk } from '#tools/sandbox/chat/ask';
import type { ProviderMemory } from '#tools/sandbox/content/memory';
import { audioTokens, imageTokens, textTokens } from '#tools/sandbox/content/tokens';
import { readJson, record, type Tool, type ToolChoice } from '#tools/sandbox/content/tool-call';
import type { ReceivedRequest } from '#tools/sandbox/dialect';
import { cachedTokens } from '#tools/sandbox/generate-content/caches';
import { storedFileTokens } from '#tools/sandbox/generate-content/files';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

export const methodPath = /^\/models\/(.+):(generateContent|streamGenerateContent|countTokens)$/;

/** Input that the results of a search add. */
const searchTokens = 300;

/** What a request of this family asks for. */
export interface ContentAsk {
  readonly chat: TextAsk & Pick<ChatAsk, 'audioTokens' | 'imageTokens'>;
  readonly counts: boolean;
  /** SSE; otherwise a stream is an array. */
  readonly sse: boolean;
  /** The prompt contains the forbidden word. */
  readonly blocked: boolean;
  readonly searches: boolean;
  /** Counted separately from the prompt. */
  readonly toolTokens: number;
  /** Of the context cache that it names, which is part of the prompt. */
  readonly cachedTokens: number;
}

/** @throws ProviderFault 400 with the family's message. */
export function readContentAsk(seen: ReceivedRequest, memory: ProviderMemory): ContentAsk {
  const [, written = '', method = ''] = methodPath.exec(seen.path) ?? [];
  const model = decodeURIComponent(written);
  const counts = method === 'countTokens';
  const body = readJson(seen.body, 'Invalid JSON payload received.');
  const request = either(body, 'generateContentRequest', 'generate_content_request');
  const asked = counts && request !== undefined ? record(request) : body;
  for (const { model: named } of [body, asked]) {
    if (named !== undefined && named !== null && named !== `models/${model}`) {
      refuse(`* model: "${String(named)}" is not the model of the path`);
    }
  }
  if (!Array.isArray(asked.contents) || asked.contents.length === 0) {
    refuse('* GenerateContentRequest.contents: contents is not specified');
  }
  const config = record(either(asked, 'generationConfig', 'generation_config'));
  const tools = [asked.tools ?? []].flat().map(record);
  const input = readInput(asked, memory);
  const cache = either(asked, 'cachedContent', 'cached_content');
  const fromCache = typeof cache === 'string' ? cachedTokens(memory, cache, model, seen.atMs) : 0;
  const searches =
    tools.some((tool) => either(tool, 'googleSearch', 'google_search')) && /search/.test(input.prompt);
  const tier = either(asked, 'serviceTier', 'service_tier');
  return {
    counts,
    sse: seen.query.get('alt') === 'sse',
    blocked: input.prompt.includes('FORBIDDEN'),
    searches,
    toolTokens: searches ? searchTokens : 0,
    cachedTokens: fromCache,
    chat: {
      model,
      stream: method === 'streamGenerateContent',
      choices: wholeNumber(either(config, 'candidateCount', 'candidate_count'), 'candidate_count') ?? 1,
      budget: wholeNumber(either(config, 'maxOutputTokens', 'max_output_tokens'), 'max_output_tokens'),
      stops: [either(config, 'stopSequences', 'stop_sequences') ?? []].flat().map(String),
      serviceTier: typeof tier === 'string' ? tier : null,
      tools: tools.flatMap(declared),
      toolChoice: readToolChoice(asked),
      schema: schemaIn(config),
      ...input,
      inputTokens: input.inputTokens + fromCache,
    },
  };
}

function refuse(message: string): never {
  throw new ProviderFault(400, message);
}

/** A field in either spelling of the protobuf JSON mapping. */
function either(body: Record<string, unknown>, camel: string, snake: string): unknown {
  return body[camel] ?? body[snake] ?? undefined;
}

function wholeNumber(value: unknown, name: string): number | null {
  if (value === undefined) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return value;
  return refuse(`Invalid value at 'generation_config.${name}' (TYPE_INT32)`);
}

function declared(tool: Record<string, unknown>): Tool[] {
  const list = [either(tool, 'functionDeclarations', 'function_declarations') ?? []].flat().map(record);
  return list.flatMap(({ name, parameters, parametersJsonSchema }) =>
    typeof name === 'string' ? [{ name, parameters: parametersJsonSchema ?? parameters }] : [],
  );
}

function readToolChoice(asked: Record<string, unknown>): ToolChoice {
  const config = record(either(asked, 'toolConfig', 'tool_config'));
  const calling = record(either(config, 'functionCallingConfig', 'function_calling_config'));
  const { mode } = calling;
  if (mode === 'NONE') return 'none';
  const [only, ...others] = [either(calling, 'allowedFunctionNames', 'allowed_function_names') ?? []].flat();
  if (mode === 'ANY' && typeof only === 'string' && others.length === 0) return { name: only };
  return mode === 'ANY' ? 'required' : 'auto';
}

/** Answers in JSON follow its schema, in either of the two dialects of schemas. */
function schemaIn(config: Record<string, unknown>): object | null {
  const json = either(config, 'responseJsonSchema', 'response_json_schema');
  const schema = json ?? either(config, 'responseSchema', 'response_schema');
  if (schema !== undefined) return record(schema);
  return either(config, 'responseMimeType', 'response_mime_type') === 'application/json' ? anyJson : null;
}

/** The input tokens of what a context cache is made of. */
export function contentTokens(body: Record<string, unknown>, memory: ProviderMemory): number {
  return readInput({ contents: [], ...body }, memory).inputTokens;
}

type Input = Pick<ChatAsk, 'prompt' | 'transcript' | 'inputTokens' | 'audioTokens' | 'imageTokens'>;

/** 3 tokens to prime the answer, 4 around each content, plus the tokens of its parts. */
function readInput(asked: Record<string, unknown>, memory: ProviderMemory): Input {
  const tools = asked.tools ? JSON.stringify(asked.tools) : '';
  const instruction = either(asked, 'systemInstruction', 'system_instruction');
  const contents = [instruction, asked.contents].flat().filter((content) => content !== undefined);
  const sum = { text: 3 + textTokens(tools), audio: 0, image: 0 };
  const lines = [tools];
  let prompt = '';
  for (const content of contents.map(record)) {
    const parts = [content.parts ?? []].flat().map(record);
    const text = parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : [])).join('\n');
    if (content.role === 'user' || content.role === undefined) prompt = text;
    lines.push(`${String(content.role)}\n${text}`);
    sum.text += 4 + textTokens(text);
    for (const part of parts) {
      const media = record(either(part, 'inlineData', 'inline_data'));
      const type = String(either(media, 'mimeType', 'mime_type') ?? '');
      const uri = either(record(either(part, 'fileData', 'file_data')), 'fileUri', 'file_uri');
      if (typeof uri === 'string') sum.text += storedFileTokens(memory, uri) ?? 0;
      if (type.startsWith('image/')) sum.image += imageTokens('low');
      if (type.startsWith('audio/')) sum.audio += audioTokens(String(media.data ?? ''));
    }
  }
  return {
    prompt,
    transcript: lines.join('\n'),
    inputTokens: sum.text + sum.audio + sum.image,
    audioTokens: sum.audio,
    imageTokens: sum.image,
  };
}
