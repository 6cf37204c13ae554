import type {
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { bindThinking } from '#lib/core/translation/bind-thinking';
import type { Conversation, TextProtocol, Unreadable } from '#lib/core/translation/conversation';
import { defined } from '#lib/core/translation/field';

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
  switch (target) {
    case 'chat': {
      // The budget is written by the family, under the name that the offer reads.
      const { maxOutputTokens: _, ...unbounded } = renamed;
      return {
        ...unbounded,
        prompt: bound.prompt.flatMap(textResultsOnly),
        providerOptions: { openai: chatFields(bound.providerOptions) },
      };
    }
    case 'responses':
      return {
        ...renamed,
        maxOutputTokens: Math.max(budget, LEAST_RESPONSE_TOKENS),
        providerOptions: {
          ...bound.providerOptions,
          // Without `store: false`, thinking would be sent as a reference to an item that OpenAI keeps.
          openai: { ...bound.providerOptions?.openai, store: false, forceReasoning: reasoning },
        },
      };
    case 'messages':
      return prepareForMessages({ ...renamed, prompt: systemFirst(bound.prompt), maxOutputTokens: budget });
    case 'generate-content': {
      const prompt = systemFirst(bound.prompt).flatMap(textResultsOnly);
      const typed = prompt.map(typeAddresses);
      const untyped = typed.find((message) => 'field' in message);
      if (untyped) return untyped as Unreadable;
      return { ...renamed, prompt: typed as LanguageModelV4Prompt, maxOutputTokens: budget };
    }
  }
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

/** OpenAI's fields as a chat body has them: the package passes on what it does not know as it is. */
function chatFields(
  options: SharedV4ProviderOptions | undefined,
): NonNullable<SharedV4ProviderOptions[string]> {
  const given = options?.openai ?? {};
  const own = defined({
    user: given.user,
    textVerbosity: given.textVerbosity,
    strictJsonSchema: given.strictJsonSchema,
    reasoningEffort: given.reasoningEffort,
  });
  return {
    ...own,
    ...defined({
      metadata: given.metadata,
      parallel_tool_calls: given.parallelToolCalls,
      prompt_cache_key: given.promptCacheKey,
      safety_identifier: given.safetyIdentifier,
      service_tier: given.serviceTier,
    }),
  };
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
  const texts: string[] = [];
  for (const one of output.value) {
    if (one.type === 'text') texts.push(one.text);
    if (one.type === 'file') files.push(one);
  }
  return { ...part, output: { type: 'text', value: texts.join('\n') } };
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
