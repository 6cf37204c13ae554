import { createHash } from 'node:crypto';
import type {
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ProviderTool,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { bindThinking } from '#lib/core/translation/bind-thinking';
import type { Conversation, TextProtocol, Unreadable } from '#lib/core/translation/conversation';
import { defined } from '#lib/core/translation/field';
import { toClientId } from '#lib/core/translation/messages/call-id';
import { fitsStrict } from '#lib/core/translation/openai/strict-schema';

/** What writing a request depends on besides the request itself. */
export interface Preparation {
  /** Maker of the model, whose signed thinking it gets back (docs/decisions/translation.md). */
  readonly maker: string;
  /** Output tokens that the answer may have, thinking included. */
  readonly budget: number;
  /** Whether the model thinks before it answers. */
  readonly reasoning: boolean;
}

/** The least budget that OpenAI's responses accept, tokens. */
const LEAST_RESPONSE_TOKENS = 16;

/**
 * A conversation as the package of the target needs it to be: what the packages would add, cut, drop or refuse by
 * themselves is settled here (docs/decisions/translation.md).
 * @returns why the target cannot take it, in a sentence that names the field.
 */
export function prepareFor(
  target: TextProtocol,
  conversation: Conversation,
  { maker, budget, reasoning }: Preparation,
): Conversation | Unreadable {
  const bound = bindThinking(conversation, maker);
  const renamed = { ...bound, ...defined({ tools: bound.tools?.map((tool) => renameSearch(tool, target)) }) };
  const prompt = bound.prompt.map((message) => fitIds(message, target));
  switch (target) {
    case 'chat': {
      // The budget is written by the family, under the name that the offer reads.
      const { maxOutputTokens: _, ...unbounded } = renamed;
      if (prompt.some(hasLinkedFile)) return linkedFile;
      return {
        ...unbounded,
        prompt: prompt.flatMap(textResultsOnly).map(chatParts),
        providerOptions: { openai: chatFields(bound) },
      };
    }
    case 'responses':
      return {
        ...renamed,
        prompt: prompt.map(detailPictures),
        maxOutputTokens: Math.max(budget, LEAST_RESPONSE_TOKENS),
        providerOptions: {
          ...bound.providerOptions,
          openai: {
            // The package would ask for a detailed summary beside every effort.
            reasoningSummary: null,
            ...bound.providerOptions?.openai,
            strictJsonSchema: isStrict(bound),
            // Without `store: false`, thinking would be sent as a reference to an item that OpenAI keeps.
            store: false,
            forceReasoning: reasoning,
          },
        },
      };
    case 'messages':
      return prepareForMessages({ ...renamed, prompt: systemFirst(prompt), maxOutputTokens: budget });
    case 'generate-content': {
      const typed = systemFirst(prompt).flatMap(textResultsOnly).map(typeAddresses);
      const untyped = typed.find((message) => 'field' in message);
      if (untyped) return untyped as Unreadable;
      return { ...renamed, prompt: typed as LanguageModelV4Prompt, maxOutputTokens: budget };
    }
  }
}

/** Longest ids of calls that OpenAI accepts, characters. */
const longestIds: Partial<Record<TextProtocol, number>> = { chat: 40, responses: 64 };

/** Ids of calls as the target accepts them: they only have to be the same at a call and at its result. */
function fitId(id: string, target: TextProtocol): string {
  if (target === 'messages') return toClientId(id);
  const longest = longestIds[target] ?? Number.POSITIVE_INFINITY;
  if (id.length <= longest) return id;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`;
}

function fitIds(message: LanguageModelV4Message, target: TextProtocol): LanguageModelV4Message {
  const fit = <Part extends { readonly type: string }>(part: Part): Part =>
    'toolCallId' in part && typeof part.toolCallId === 'string'
      ? { ...part, toolCallId: fitId(part.toolCallId, target) }
      : part;
  if (message.role === 'assistant') return { ...message, content: message.content.map(fit) };
  return message.role === 'tool' ? { ...message, content: message.content.map(fit) } : message;
}

/** Anthropic refuses a forced tool beside thinking; the package would give up the tool instead. */
function prepareForMessages(conversation: Conversation): Conversation {
  const { providerOptions, reasoning, toolChoice } = conversation;
  const anthropic = { ...providerOptions?.anthropic, toolStreaming: false };
  const told = { ...conversation, providerOptions: { ...providerOptions, anthropic } };
  if (toolChoice?.type !== 'required' && toolChoice?.type !== 'tool') return told;
  const { thinking: _, effort: __, ...thoughtless } = providerOptions?.anthropic ?? {};
  const { reasoning: ___, ...forced } = told;
  return {
    ...forced,
    providerOptions: { ...providerOptions, anthropic: { ...thoughtless, toolStreaming: false } },
    ...(reasoning === 'none' ? { reasoning } : {}),
  };
}

/** OpenAI's own word on strictness; of clients that know none, what their schema allows. */
function isStrict({ providerOptions, responseFormat }: Conversation): boolean {
  const asked = providerOptions?.openai?.strictJsonSchema;
  if (typeof asked === 'boolean') return asked;
  return responseFormat?.type === 'json' && fitsStrict(responseFormat.schema);
}

/** OpenAI's fields as a chat body has them: the package passes on what it does not know as it is. */
function chatFields(conversation: Conversation): NonNullable<SharedV4ProviderOptions[string]> {
  const given = conversation.providerOptions?.openai ?? {};
  const own = defined({
    user: given.user,
    textVerbosity: given.textVerbosity,
    strictJsonSchema: isStrict(conversation),
    reasoningEffort: given.reasoningEffort,
  });
  return {
    ...own,
    ...defined({
      metadata: given.metadata,
      parallel_tool_calls: given.parallelToolCalls,
      prompt_cache_key: given.promptCacheKey,
      prompt_cache_retention: given.promptCacheRetention,
      safety_identifier: given.safetyIdentifier,
      service_tier: given.serviceTier,
    }),
  };
}

const linkedFile: Unreadable = {
  field: 'file_url',
  message:
    'Models of chat do not read files at an address, only pictures; send the content of the file itself.',
};

function hasLinkedFile(message: LanguageModelV4Message): boolean {
  return (
    message.role === 'user' &&
    message.content.some((part) => part.type === 'file' && part.data.type === 'url' && !isPicture(part))
  );
}

function isPicture({ mediaType }: LanguageModelV4FilePart): boolean {
  return /^image(\/|$)/.test(mediaType);
}

/**
 * Fields of parts that the package for chat does not know. What `openaiCompatible` has is written over a message or a
 * part, so that text which the package would join or shorten to a string stays in parts.
 */
function chatParts(message: LanguageModelV4Message): LanguageModelV4Message {
  switch (message.role) {
    case 'system': {
      const { content: text, providerOptions } = message;
      return over(message, inParts([{ type: 'text', text, ...(providerOptions && { providerOptions }) }]));
    }
    case 'assistant':
      return over(message, inParts(message.content.filter((part) => part.type === 'text')));
    case 'user': {
      const [part, ...others] = message.content;
      if (part?.type === 'text' && others.length === 0)
        return { ...message, content: [over(part, inParts([part]))] };
      return { ...message, content: message.content.map((one) => over(one, partFields(one))) };
    }
    case 'tool':
      return message;
  }
}

function over<Written extends { readonly providerOptions?: SharedV4ProviderOptions }>(
  written: Written,
  openaiCompatible: NonNullable<SharedV4ProviderOptions[string]>,
): Written {
  if (Object.keys(openaiCompatible).length === 0) return written;
  return { ...written, providerOptions: { ...written.providerOptions, openaiCompatible } };
}

/** Text as a list of parts if one of them has a mark of the cache. */
function inParts(parts: readonly LanguageModelV4TextPart[]): NonNullable<SharedV4ProviderOptions[string]> {
  if (parts.every((part) => Object.keys(partFields(part)).length === 0)) return {};
  return { content: parts.map((part) => ({ type: 'text', text: part.text, ...partFields(part) })) };
}

function partFields(
  part: LanguageModelV4TextPart | LanguageModelV4FilePart,
): NonNullable<SharedV4ProviderOptions[string]> {
  const { promptCacheBreakpoint, imageDetail } = part.providerOptions?.openai ?? {};
  return defined({
    prompt_cache_breakpoint: promptCacheBreakpoint,
    image_url:
      part.type === 'file' && imageDetail !== undefined
        ? { url: addressOf(part), detail: imageDetail }
        : undefined,
  });
}

/** A picture as a URL, which may be a data URL. */
function addressOf({ data, mediaType }: LanguageModelV4FilePart): string {
  if (data.type === 'url') return data.url.toString();
  return data.type === 'data' ? `data:${mediaType};base64,${String(data.data)}` : '';
}

/** A search of the web by the provider has another name at each of them. */
function renameSearch(
  tool: LanguageModelV4FunctionTool | LanguageModelV4ProviderTool,
  target: TextProtocol,
): LanguageModelV4FunctionTool | LanguageModelV4ProviderTool {
  if (tool.type !== 'provider' || !/\.(web|google)_search/.test(tool.id)) return tool;
  if (target === 'messages')
    return { ...tool, id: 'anthropic.web_search_20250305', name: 'web_search', args: {} };
  if (target === 'generate-content')
    return { ...tool, id: 'google.google_search', name: 'google_search', args: {} };
  const own = tool.id.startsWith('openai.');
  return { ...tool, id: 'openai.web_search', name: 'web_search', args: own ? tool.args : {} };
}

/** System messages are only accepted before the conversation: a later one becomes a message of the user. */
function systemFirst(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const begins = prompt.findIndex(({ role }) => role !== 'system');
  return prompt.map((message, index) =>
    message.role === 'system' && begins >= 0 && index > begins
      ? { role: 'user', content: [{ type: 'text', text: message.content }] }
      : message,
  );
}

/**
 * Results of tools as text, because the package writes other parts as JSON: pictures and files go into a message of the
 * user behind the results.
 */
function textResultsOnly(message: LanguageModelV4Message): LanguageModelV4Message[] {
  if (message.role !== 'tool') return [message];
  const files: LanguageModelV4FilePart[] = [];
  const content = message.content.map((part) =>
    part.type === 'tool-result' ? textResult(part, files) : part,
  );
  const results: LanguageModelV4Message = { ...message, content };
  return files.length === 0 ? [results] : [results, { role: 'user', content: files }];
}

function textResult(
  part: LanguageModelV4ToolResultPart,
  files: LanguageModelV4FilePart[],
): LanguageModelV4ToolResultPart {
  const { output } = part;
  if (output.type !== 'content') return part;
  const texts = output.value.filter((one) => one.type === 'text');
  files.push(...output.value.filter((one) => one.type === 'file'));
  const value = texts.map(({ text }) => text).join('\n');
  return over({ ...part, output: { type: 'text', value } }, inParts(texts));
}

/** OpenAI's schema requires a detail of each picture; "auto" is what leaving it out means in other protocols. */
function detailPictures(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== 'user') return message;
  const content = message.content.map((part) => {
    if (part.type !== 'file' || !isPicture(part)) return part;
    const { openai, ...others } = part.providerOptions ?? {};
    return { ...part, providerOptions: { ...others, openai: { imageDetail: 'auto', ...openai } } };
  });
  return { ...message, content };
}

const typesByEnding: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
};

/** Google has to be told the type of what an address has; the gateway never fetches it. */
function typeAddresses(message: LanguageModelV4Message): LanguageModelV4Message | Unreadable {
  if (message.role !== 'user') return message;
  const content = [];
  for (const part of message.content) {
    if (part.type !== 'file' || part.data.type !== 'url' || /^\w+\/[\w.+-]+$/.test(part.mediaType)) {
      content.push(part);
      continue;
    }
    const ending = /\.(\w+)$/.exec(part.data.url.pathname)?.[1]?.toLowerCase() ?? '';
    const mediaType = typesByEnding[ending];
    if (!mediaType) {
      return {
        field: 'image_url',
        message:
          'The type of the picture at an address must show in its ending (.png, .jpg, .webp) for this model; send such an address, or the content itself.',
      };
    }
    content.push({ ...part, mediaType });
  }
  return { ...message, content };
}
