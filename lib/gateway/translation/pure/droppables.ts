import { type JsonObject, listIn, objectIn } from '#lib/core/families/reading/json';
import type { Conversation, TextProtocol } from '#lib/core/translation/conversation';

/** A field that a package leaves out for models that reject it. */
export interface Droppable {
  /** Whether the client's request has it. */
  asks(conversation: Conversation): boolean;
  /** Whether it is in the body that the package has written. */
  has(body: JsonObject): boolean;
  /** The field in the client's protocol; a protocol without a name has no such field. */
  readonly names: Partial<Record<TextProtocol, string>>;
}

type Names = Droppable['names'];

function setting(name: keyof Conversation, written: string, names: Names): Droppable {
  return { asks: (conversation) => name in conversation, has: (body) => written in body, names };
}

const temperature = setting('temperature', 'temperature', {
  chat: 'temperature',
  responses: 'temperature',
  messages: 'temperature',
  'generate-content': 'generationConfig.temperature',
});
const topP = setting('topP', 'top_p', {
  chat: 'top_p',
  responses: 'top_p',
  messages: 'top_p',
  'generate-content': 'generationConfig.topP',
});
const topK = setting('topK', 'top_k', { chat: 'top_k', 'generate-content': 'generationConfig.topK' });

const cacheRetention: Droppable = {
  asks: ({ providerOptions }) => providerOptions?.openai?.promptCacheRetention !== undefined,
  has: (body) => 'prompt_cache_retention' in body,
  names: { chat: 'prompt_cache_retention' },
};

/** Of an assistant's text; other parts keep it. */
const cacheBreakpoint: Droppable = {
  asks: ({ prompt }) =>
    prompt.some(
      ({ role, content }) =>
        role === 'assistant' &&
        content.some(({ providerOptions }) => providerOptions?.openai?.promptCacheBreakpoint !== undefined),
    ),
  has: ({ input }) =>
    listIn(input).some((item) =>
      listIn(objectIn(item)?.role === 'assistant' ? objectIn(item)?.content : []).some(
        (part) => objectIn(part)?.prompt_cache_breakpoint !== undefined,
      ),
    ),
  names: { chat: 'messages[].content[].prompt_cache_breakpoint' },
};

const isForced = (choice: unknown) => ['any', 'tool'].includes(String(objectIn(choice)?.type));

const forcedTool: Droppable = {
  asks: ({ toolChoice }) => toolChoice?.type === 'required' || toolChoice?.type === 'tool',
  has: ({ tool_choice: choice }) => isForced(choice),
  names: {
    chat: 'tool_choice',
    responses: 'tool_choice',
    'generate-content': 'toolConfig.functionCallingConfig.mode',
  },
};

const strictTool: Droppable = {
  asks: ({ tools }) => tools?.some((tool) => tool.type === 'function' && tool.strict === true) === true,
  has: ({ tools }) => listIn(tools).some((tool) => objectIn(tool)?.strict === true),
  names: { chat: 'tools[].function.strict', responses: 'tools[].strict' },
};

/** Where a model has no schemas for its answers, the package declares one more tool, behind the client's. */
export function hasJsonTool({ tools, output_config: config }: JsonObject): boolean {
  return !objectIn(config)?.format && objectIn(listIn(tools).at(-1))?.name === 'json';
}

/** As a schema of the answer, or as a tool that has to be called. */
const answerFormat: Droppable = {
  asks: ({ responseFormat }) => responseFormat?.type === 'json',
  has: (body) =>
    objectIn(body.output_config)?.format !== undefined || (hasJsonTool(body) && isForced(body.tool_choice)),
  names: {
    chat: 'response_format',
    responses: 'text.format',
    'generate-content': 'generationConfig.responseMimeType',
  },
};

const penalty = (name: 'frequencyPenalty' | 'presencePenalty', client: string): Droppable => ({
  asks: (conversation) => (conversation[name] ?? 0) !== 0,
  has: ({ generationConfig }) => name in (objectIn(generationConfig) ?? {}),
  names: { chat: client },
});

/** What the package of each protocol leaves out (docs/decisions/translation.md). */
export const droppables: Readonly<Record<TextProtocol, readonly Droppable[]>> = {
  chat: [],
  responses: [temperature, topP, cacheRetention, cacheBreakpoint],
  messages: [temperature, topP, topK, forcedTool, strictTool, answerFormat],
  'generate-content': [
    penalty('frequencyPenalty', 'frequency_penalty'),
    penalty('presencePenalty', 'presence_penalty'),
  ],
};
