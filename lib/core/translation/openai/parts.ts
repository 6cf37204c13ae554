import type {
  LanguageModelV4FilePart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
} from '@ai-sdk/provider';
import { type JsonObject, objectIn, parseJson } from '#lib/core/families/reading/json';
import type { Conversation } from '#lib/core/translation/conversation';
import { defined, type Field, withOptions } from '#lib/core/translation/field';

export type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

/** What both of OpenAI's protocols write alike, or nearly so. */

export function textPart(
  text: string,
  options: ReturnType<typeof withOptions> = {},
): LanguageModelV4TextPart[] {
  return text === '' ? [] : [{ type: 'text', text, ...options }];
}

/** Where the client wants the prompt to be cached: OpenAI's mark, or Anthropic's, which compatible servers accept. */
export function cacheMark(part: Field): ReturnType<typeof withOptions> {
  const breakpoint = part.get('prompt_cache_breakpoint');
  const long = breakpoint.maybe((field) => field.get('ttl').value === '12h');
  const asAnthropic = long === undefined ? undefined : { type: 'ephemeral', ...(long && { ttl: '1h' }) };
  return withOptions({
    openai: defined({ promptCacheBreakpoint: breakpoint.maybe((field) => field.jsonObject()) }),
    anthropic: defined({
      cacheControl: part.get('cache_control').maybe((one) => one.jsonObject()) ?? asAnthropic,
    }),
  });
}

/** A file with the mark of the part that it is in. */
export function marked(file: LanguageModelV4FilePart, at: Field): LanguageModelV4FilePart {
  const mark = cacheMark(at).providerOptions;
  const openai = { ...file.providerOptions?.openai, ...mark?.openai };
  return { ...file, ...withOptions({ ...mark, openai }) };
}

/** A picture by URL, or in a data URL. */
export function picturePart(url: Field, detail: Field): LanguageModelV4FilePart {
  const imageDetail = detail.maybe((field) => field.oneOf('auto', 'low', 'high', 'original'));
  const data = inlineData(url) ?? linkedData(url, 'image/*');
  return { type: 'file', ...data, ...withOptions({ openai: defined({ imageDetail }) }) };
}

export function audioPart(audio: Field): LanguageModelV4FilePart {
  const format = audio.get('format').oneOf('wav', 'mp3');
  return {
    type: 'file',
    mediaType: format === 'wav' ? 'audio/wav' : 'audio/mpeg',
    data: { type: 'data', data: audio.get('data').name() },
  };
}

/** A file in `file_data`, as a data URL or as plain base64 of a PDF, or in `file_url`. */
export function filePart(file: Field): LanguageModelV4FilePart {
  const [id, url, data] = [file.get('file_id'), file.get('file_url'), file.get('file_data')];
  if (!id.isAbsent) refuseStored(id, '"file_data"');
  const plain = () => ({ mediaType: 'application/pdf', data: { type: 'data' as const, data: data.name() } });
  const content = url.isAbsent ? (inlineData(data) ?? plain()) : linkedData(url, 'application/pdf');
  return {
    type: 'file',
    ...content,
    ...defined({ filename: file.get('filename').maybe((one) => one.text()) }),
  };
}

export function refuseStored(id: Field, instead: string): never {
  return id.refuse(`names a file that only one provider keeps; send its content in ${instead}.`);
}

type FileContent = Pick<LanguageModelV4FilePart, 'mediaType' | 'data'>;

/** @returns null for what is no data URL. */
function inlineData(field: Field): FileContent | null {
  const text = field.name();
  if (!text.startsWith('data:')) return null;
  const comma = text.indexOf(',');
  const [mediaType, ...parameters] = text.slice('data:'.length, Math.max(comma, 0)).split(';');
  if (!mediaType || !parameters.includes('base64'))
    field.wrong('a URL, or a data URL such as data:image/png;base64,…');
  return { mediaType, data: { type: 'data', data: text.slice(comma + 1) } };
}

function linkedData(field: Field, mediaType: string): FileContent {
  const url = field.url();
  if (url.protocol !== 'https:' && url.protocol !== 'http:') field.wrong('a URL of the web, or a data URL');
  return { mediaType, data: { type: 'url', url } };
}

/** The result of a tool; text without a mark of the cache is a string. */
export function resultOf(parts: UserPart[]): LanguageModelV4ToolResultOutput {
  const texts = parts.flatMap((part) => (part.type === 'text' && !part.providerOptions ? [part.text] : []));
  if (texts.length < parts.length) return { type: 'content', value: parts };
  return { type: 'text', value: texts.join('\n') };
}

/** Arguments of a call as an object; none are an empty one. */
export function readArguments(field: Field): JsonObject {
  const text = field.text();
  if (text.trim() === '') return {};
  return (
    objectIn(parseJson(text)) ?? field.wrong('a JSON object in a string, such as "{\\"city\\":\\"Rome\\"}"')
  );
}

export function readEffort(field: Field): NonNullable<Conversation['reasoning']> {
  return field.oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max');
}

/** @param name where the schema and its name are, which depends on the protocol. */
export function readFormat(
  format: Field,
  name?: 'json_schema',
): { responseFormat?: Conversation['responseFormat']; strict?: boolean } {
  const type = format.get('type').oneOf('text', 'json_object', 'json_schema');
  if (type === 'text') return {};
  if (type === 'json_object') return { responseFormat: { type: 'json' } };
  const at = name ? format.get(name) : format;
  const responseFormat = {
    type: 'json' as const,
    ...defined({
      schema: at.get('schema').maybe((field) => field.schema()),
      name: at.get('name').maybe((field) => field.name()),
      description: at.get('description').maybe((field) => field.text()),
    }),
  };
  return { responseFormat, strict: at.get('strict').maybe((field) => field.flag()) ?? false };
}

/** Options that both protocols name alike, for OpenAI's package and for those who read a user's name. */
export function sharedOptions(request: Field) {
  const optional = (name: string) => request.get(name).maybe((field) => field.text());
  const user = optional('safety_identifier') ?? optional('user');
  const oneAtATime = request.get('parallel_tool_calls').maybe((field) => field.flag()) === false || undefined;
  const tier = request.get('service_tier').maybe((field) => field.name());
  return {
    openai: defined({
      parallelToolCalls: oneAtATime && false,
      promptCacheKey: optional('prompt_cache_key'),
      promptCacheRetention: request
        .get('prompt_cache_retention')
        .maybe((one) => one.oneOf('in_memory', '24h')),
      safetyIdentifier: optional('safety_identifier'),
      serviceTier: carriedTiers.find((one) => one === tier),
      user: optional('user'),
    }),
    anthropic: defined({
      disableParallelToolUse: oneAtATime,
      metadata: user === undefined ? undefined : { userId: user },
    }),
  };
}

/** Service tiers that both of OpenAI's protocols have. */
const carriedTiers = ['auto', 'default', 'flex', 'priority', 'fast'];
