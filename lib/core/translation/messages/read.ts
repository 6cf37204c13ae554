import { createHash } from 'node:crypto';
import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import type { JsonObject } from '#lib/core/families/reading/json';
import { carryMark } from '#lib/core/translation/bind-thinking';
import type { Conversation, ReadRequest, Unreadable } from '#lib/core/translation/conversation';
import { type Effort, effortOfBudget } from '#lib/core/translation/effort';
import { defined, Field, readOrExplain, withOptions } from '#lib/core/translation/field';
import { cacheMark, readText, readTextBlock, readUserBlock } from '#lib/core/translation/messages/blocks';
import { fromClientId } from '#lib/core/translation/messages/call-id';
import { readMark } from '#lib/core/translation/thinking-mark';
import { ToolCalls } from '#lib/core/translation/tool-calls';
import { UniqueIds } from '#lib/core/translation/unique-ids';

type AssistantPart = LanguageModelV4TextPart | LanguageModelV4ReasoningPart | LanguageModelV4ToolCallPart;
type Tool = NonNullable<Conversation['tools']>[number];

/** Blocks of an answer that tools of the provider left behind: their text is in the answer. */
const traceOfServerTool = /^(server_tool_use|mcp_tool_use|[a-z_]+_tool_result)$/;
/** OpenAI's longest name of a user. */
const MAX_USER_LENGTH = 64;
/** The largest budget of thinking that all models of Google take. */
const MAX_GOOGLE_BUDGET = 24_576;

/** Reads a messages request (docs/decisions/translation.md). */
export function read(body: JsonObject): ReadRequest | Unreadable {
  return readOrExplain(() => {
    const request = new Field(body);
    const thinking = readThinking(request);
    const tools = request.get('tools').items().map(readTool);
    const choice = readChoice(request.get('tool_choice'), tools);
    const conversation: Conversation = {
      prompt: [...readSystem(request.get('system')), ...readTurns(request.get('messages'))],
      ...defined({
        maxOutputTokens: request.get('max_tokens').maybe(readBudget),
        temperature: request.get('temperature').maybe((field) => field.number()),
        topP: request.get('top_p').maybe((field) => field.number()),
        topK: request.get('top_k').maybe((field) => field.number()),
        stopSequences: request.get('stop_sequences').maybe((field) => field.items().map((one) => one.name())),
        responseFormat: readFormat(request),
        tools: tools.length > 0 ? tools : undefined,
        toolChoice: choice.toolChoice,
        reasoning: thinking.effort,
      }),
      ...withOptions({
        openai: defined({
          parallelToolCalls: choice.oneAtATime ? false : undefined,
          reasoningSummary: thinking.shown ? 'auto' : undefined,
          user: request.get('metadata').maybe(readUser),
        }),
        google: defined({
          thinkingConfig: thinking.shown
            ? { includeThoughts: true, ...defined({ thinkingBudget: thinking.budget }) }
            : undefined,
        }),
      }),
    };
    return { conversation, echo: { thinking: thinking.shown } };
  });
}

function readSystem(field: Field): LanguageModelV4Message[] {
  return readText(field).map(({ text, providerOptions }) => ({
    role: 'system',
    content: text,
    ...defined({ providerOptions }),
  }));
}

function readTurns(field: Field): LanguageModelV4Prompt {
  const calls = new ToolCalls();
  const answer: Answer = { calls, ids: new UniqueIds(), marks: new Map() };
  const prompt: LanguageModelV4Prompt = [];
  let earlier: string | null = null;
  for (const message of field.items()) {
    const role = message.get('role').oneOf('user', 'assistant', 'system');
    const content = message.get('content');
    if (role === 'system') prompt.push(...readSystem(content));
    if (role === 'user') prompt.push(...readUserTurn(content, calls));
    if (role === 'assistant') {
      if (earlier !== 'assistant') calls.close();
      const parts: AssistantPart[] =
        typeof content.value === 'string'
          ? readText(content)
          : content.items().flatMap((block) => readAnswerBlock(block, answer));
      if (parts.length > 0) prompt.push({ role, content: parts });
    }
    earlier = role;
  }
  calls.close();
  if (!prompt.some(({ role }) => role !== 'system')) field.wrong('a list with at least one message');
  return prompt;
}

/** Results of tools first, in a message of their own. */
function readUserTurn(content: Field, calls: ToolCalls): LanguageModelV4Prompt {
  const blocks = typeof content.value === 'string' ? [] : content.items();
  const isResult = (block: Field) => block.get('type').value === 'tool_result';
  const results = blocks.filter(isResult).map((block) => readResult(block, calls));
  const parts =
    typeof content.value === 'string'
      ? readText(content)
      : blocks.filter((block) => !isResult(block)).flatMap(readUserBlock);
  if (results.length + parts.length === 0) content.refuse('is empty; leave the message out.');
  return [
    ...(results.length > 0 ? [{ role: 'tool' as const, content: results }] : []),
    ...(parts.length > 0 ? [{ role: 'user' as const, content: parts }] : []),
  ];
}

function readResult(block: Field, calls: ToolCalls): LanguageModelV4ToolResultPart {
  const at = block.get('tool_use_id');
  const id = fromClientId(at.name());
  const call =
    calls.takeResult((open) => open.givenId === id) ??
    at.refuse('names no tool_use block of the message before that still waits for its result.');
  return {
    type: 'tool-result',
    toolCallId: call.id,
    toolName: call.name,
    output: readOutput(block.get('content'), block.get('is_error').maybe((field) => field.flag()) === true),
    ...cacheMark(block),
  };
}

function readOutput(content: Field, isError: boolean): LanguageModelV4ToolResultPart['output'] {
  const parts =
    typeof content.value === 'string' ? readText(content) : content.items().flatMap(readUserBlock);
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (texts.length < parts.length) return { type: 'content', value: parts };
  return { type: isError ? 'error-text' : 'text', value: texts.join('\n') };
}

/** What is known of the calls of a conversation. */
interface Answer {
  readonly calls: ToolCalls;
  readonly ids: UniqueIds;
  /** Marks of calls, by the call's id: their block stands before that of the call. */
  readonly marks: Map<string, string>;
}

/** An id that was used before gets another, since some models count their calls from 0 in every turn. */
function readAnswerBlock(block: Field, { calls, ids, marks }: Answer): AssistantPart[] {
  const type = block.get('type').name();
  if (type === 'text') return readTextBlock(block);
  if (type === 'thinking' || type === 'redacted_thinking') {
    const signed = block.get(type === 'thinking' ? 'signature' : 'data').maybe((field) => field.text()) ?? '';
    const toolCallId = readMark(signed)?.toolCallId;
    if (toolCallId !== undefined) {
      marks.set(toolCallId, signed);
      return [];
    }
    const text = type === 'thinking' ? block.get('thinking').text() : '';
    return [{ type: 'reasoning', text, providerOptions: carryMark(signed) }];
  }
  if (type !== 'tool_use') {
    if (traceOfServerTool.test(type)) return [];
    block
      .get('type')
      .refuse(`is "${type}", which only models of the messages protocol read; leave the block out.`);
  }
  const givenId = fromClientId(block.get('id').name());
  if (calls.waits((open) => open.givenId === givenId)) {
    block.get('id').refuse('is the id of another tool_use block without a result; give each call its own.');
  }
  const id = ids.take(givenId);
  const toolName = block.get('name').name();
  calls.call({ id, givenId, name: toolName, at: block });
  const mark = marks.get(givenId);
  marks.delete(givenId);
  const { providerOptions } = cacheMark(block);
  return [
    {
      type: 'tool-call',
      toolCallId: id,
      toolName,
      input: block.get('input').jsonObject(),
      ...withOptions({ ...providerOptions, ...(mark === undefined ? {} : carryMark(mark)) }),
    },
  ];
}

function readTool(tool: Field): Tool {
  const type = tool.get('type').maybe((field) => field.name()) ?? 'custom';
  const name = tool.get('name').name();
  if (type === 'custom') {
    return {
      type: 'function',
      name,
      inputSchema: tool.get('input_schema').schema(),
      ...defined({
        description: tool.get('description').maybe((field) => field.text()),
        strict: tool.get('strict').maybe((field) => field.flag()),
        inputExamples: tool
          .get('input_examples')
          .maybe((field) => field.items().map((one) => ({ input: one.jsonObject() }))),
      }),
      ...cacheMark(tool),
    };
  }
  if (!type.startsWith('web_search_')) {
    tool
      .get('type')
      .refuse(`is "${type}", a tool of Anthropic's models; declare one with an "input_schema".`);
  }
  const args = defined({
    maxUses: tool.get('max_uses').maybe((field) => field.whole(1)),
    allowedDomains: tool.get('allowed_domains').maybe((field) => field.items().map((one) => one.name())),
    blockedDomains: tool.get('blocked_domains').maybe((field) => field.items().map((one) => one.name())),
    userLocation: tool.get('user_location').maybe((field) => field.jsonObject()),
  });
  return { type: 'provider', id: `anthropic.${type}`, name, args };
}

function readChoice(
  field: Field,
  tools: readonly Tool[],
): { toolChoice?: Conversation['toolChoice']; oneAtATime?: boolean } {
  if (field.isAbsent) return {};
  const type = field.get('type').oneOf('auto', 'any', 'tool', 'none');
  const oneAtATime = field.get('disable_parallel_tool_use').maybe((one) => one.flag()) === true;
  if (type === 'any') return { toolChoice: { type: 'required' }, oneAtATime };
  if (type !== 'tool') return { toolChoice: { type }, oneAtATime };
  const toolName = field.get('name').name();
  if (!tools.some(({ name }) => name === toolName)) {
    field.get('name').refuse(`is "${toolName}", which is not in "tools".`);
  }
  return { toolChoice: { type, toolName }, oneAtATime };
}

interface ThinkingAsked {
  readonly effort?: Effort;
  /** Tokens, for models of Google. */
  readonly budget?: number;
  /** The client expects blocks of thinking. */
  readonly shown: boolean;
}

function readThinking(request: Field): ThinkingAsked {
  const config = request.get('thinking');
  const type = config.maybe((field) =>
    field.get('type').oneOf('enabled', 'disabled', 'adaptive', 'between_tools'),
  );
  if (type === 'disabled') return { effort: 'none', shown: false };
  const omitted = config.maybe((field) => field.get('display').value === 'omitted') === true;
  const shown = type !== undefined && !omitted;
  const effort = request
    .get('output_config')
    .maybe((field) => field.get('effort').maybe((one) => one.oneOf('low', 'medium', 'high', 'xhigh', 'max')));
  if (effort !== undefined) return { effort, shown };
  if (type !== 'enabled') return { shown };
  const budget = config.get('budget_tokens').whole(1);
  return { effort: effortOfBudget(budget), budget: Math.min(budget, MAX_GOOGLE_BUDGET), shown };
}

function readFormat(request: Field): Conversation['responseFormat'] {
  const format = request.get('output_config').maybe((field) => field.get('format'));
  const given = format && !format.isAbsent ? format : request.get('output_format');
  return given.maybe((field) => {
    field.get('type').oneOf('json_schema');
    return { type: 'json' as const, schema: field.get('schema').schema() };
  });
}

function readBudget(field: Field): number {
  if (field.value === 0)
    field.refuse('is 0, which only fills the cache of an Anthropic model; send 1 or more.');
  return field.whole(1);
}

/** OpenAI refuses long names, such as those of Claude Code: the hash of one stands for it. */
function readUser(metadata: Field): string | undefined {
  const user = metadata.get('user_id').maybe((field) => field.name());
  if (user === undefined || user.length <= MAX_USER_LENGTH) return user;
  return createHash('sha256').update(user).digest('hex');
}
