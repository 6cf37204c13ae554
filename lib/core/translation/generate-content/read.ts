import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { JsonObject } from '#lib/core/families/reading/json';
import type { Conversation, ReadRequest, Unreadable } from '#lib/core/translation/conversation';
import { type Effort, effortOfBudget } from '#lib/core/translation/effort';
import { defined, Field, readOrExplain, withOptions } from '#lib/core/translation/field';
import { ModelTurn, readResult, readUserPart } from '#lib/core/translation/generate-content/parts';
import { readSchema } from '#lib/core/translation/generate-content/schema';
import { at } from '#lib/core/translation/generate-content/spellings';
import { ToolCalls } from '#lib/core/translation/tool-calls';
import { UniqueIds } from '#lib/core/translation/unique-ids';

type Tool = NonNullable<Conversation['tools']>[number];

const MIN_ANTHROPIC_BUDGET = 1_024;

/** Reads a generateContent request (docs/decisions/translation.md). */
export function read(body: JsonObject): ReadRequest | Unreadable {
  return readOrExplain(() => {
    const request = new Field(body);
    const config = orEmpty(at(request, 'generationConfig'));
    const maxOutputTokens = at(config, 'maxOutputTokens').maybe((field) => field.whole(1));
    const thinking = readThinking(orEmpty(at(config, 'thinkingConfig')), maxOutputTokens);
    const declared = request.get('tools').items().flatMap(readTool);
    const { tools, toolChoice } = readChoice(at(request, 'toolConfig'), declared);
    const number = (name: string) => at(config, name).maybe((field) => field.number());
    const conversation: Conversation = {
      prompt: [...readSystem(at(request, 'systemInstruction')), ...readContents(request.get('contents'))],
      ...defined({
        maxOutputTokens,
        temperature: number('temperature'),
        topP: number('topP'),
        topK: number('topK'),
        presencePenalty: number('presencePenalty'),
        frequencyPenalty: number('frequencyPenalty'),
        seed: number('seed'),
        stopSequences: at(config, 'stopSequences').maybe((field) => field.items().map((one) => one.name())),
        responseFormat: readFormat(config),
        tools: tools.length > 0 ? tools : undefined,
        toolChoice,
        reasoning: thinking.effort,
      }),
      ...withOptions({
        openai: defined({ reasoningSummary: thinking.shown ? 'auto' : undefined }),
        anthropic: defined({ thinking: thinking.budget }),
      }),
    };
    return { conversation, echo: { thoughts: thinking.shown } };
  });
}

function orEmpty(field: Field): Field {
  return field.isAbsent ? new Field({}, field.path) : field;
}

function readSystem(field: Field): LanguageModelV4Message[] {
  if (field.isAbsent) return [];
  const texts =
    typeof field.value === 'string'
      ? [field.value]
      : field
          .get('parts')
          .items()
          .map((part) => part.get('text').text());
  return texts.filter((text) => text !== '').map((content) => ({ role: 'system', content }));
}

function readContents(field: Field): LanguageModelV4Prompt {
  const calls = new ToolCalls();
  const ids = new UniqueIds();
  const prompt: LanguageModelV4Prompt = [];
  let turn: ModelTurn | null = null;
  for (const content of field.items()) {
    // `function` is an old role for results.
    const role = content.get('role').maybe((one) => one.oneOf('user', 'model', 'function')) ?? 'user';
    const parts = content.get('parts').items();
    if (role === 'model') {
      if (turn === null) {
        calls.close();
        turn = new ModelTurn(calls, ids);
        prompt.push({ role: 'assistant', content: turn.parts });
      }
      for (const part of parts) turn.read(part);
      continue;
    }
    turn = null;
    prompt.push(...readUserTurn(content, parts, calls));
  }
  calls.close();
  const said = prompt.filter(({ content }) => content.length > 0);
  if (said.length === 0) field.wrong('a list with at least one content');
  return said;
}

/** Gemini CLI sends every result twice when it resumes a session, which Google accepts. */
function withoutRepeats(results: readonly Field[]): readonly Field[] {
  const seen = new Set<string>();
  return results.filter((part) => {
    const named = at(part, 'functionResponse')
      .get('id')
      .maybe((id) => id.text());
    const told = JSON.stringify(part.value);
    if (!named || !seen.has(told)) {
      seen.add(told);
      return true;
    }
    return false;
  });
}

/** Results of functions first, in a message of their own. */
function readUserTurn(content: Field, parts: readonly Field[], calls: ToolCalls): LanguageModelV4Prompt {
  const isResult = (part: Field) => !at(part, 'functionResponse').isAbsent;
  const results = withoutRepeats(parts.filter(isResult)).map((part) => readResult(part, calls));
  const others = parts.filter((part) => !isResult(part)).flatMap(readUserPart);
  if (results.length + others.length === 0) content.refuse('has no parts that say anything; leave it out.');
  return [
    ...(results.length > 0 ? [{ role: 'tool' as const, content: results }] : []),
    ...(others.length > 0 ? [{ role: 'user' as const, content: others }] : []),
  ];
}

function readTool(tool: Field): Tool[] {
  const functions = at(tool, 'functionDeclarations').items().map(readFunction);
  const search = at(tool, 'googleSearch').maybe((field) => field.object());
  if (search)
    functions.push({ type: 'provider', id: 'google.google_search', name: 'google_search', args: search });
  const other = Object.keys(tool.object()).find(
    (name) => !/^(functionDeclarations|function_declarations|googleSearch|google_search)$/.test(name),
  );
  if (other !== undefined && !tool.get(other).isAbsent) {
    tool.get(other).refuse("is a tool of Google's models; declare a function instead.");
  }
  return functions;
}

function readFunction(declaration: Field): Tool {
  const schema = at(declaration, 'parametersJsonSchema').maybe((field) => field.schema());
  return {
    type: 'function',
    name: declaration.get('name').name(),
    inputSchema: schema ??
      declaration.get('parameters').maybe(readSchema) ?? { type: 'object', properties: {} },
    ...defined({ description: declaration.get('description').maybe((field) => field.text()) }),
  };
}

/** Where the model may call only some of the functions, it gets only those. */
function readChoice(
  config: Field,
  tools: readonly Tool[],
): { readonly tools: Tool[]; readonly toolChoice?: Conversation['toolChoice'] } {
  const calling = config.maybe((field) => at(field, 'functionCallingConfig'));
  const mode = calling?.maybe((field) =>
    field.get('mode').maybe((one) => one.oneOf('AUTO', 'ANY', 'NONE', 'VALIDATED', 'MODE_UNSPECIFIED')),
  );
  if (!calling || mode === undefined || mode === 'MODE_UNSPECIFIED') return { tools: [...tools] };
  if (mode === 'NONE') return { tools: [...tools], toolChoice: { type: 'none' } };
  const allowed = at(calling, 'allowedFunctionNames')
    .items()
    .map((field) => {
      const name = field.name();
      if (!tools.some((tool) => tool.name === name)) field.refuse(`is "${name}", which is not in "tools".`);
      return name;
    });
  const kept = tools.filter(
    ({ type, name }) => allowed.length === 0 || type !== 'function' || allowed.includes(name),
  );
  if (mode !== 'ANY') return { tools: kept, toolChoice: { type: 'auto' } };
  const [only, ...more] = allowed;
  return only !== undefined && more.length === 0
    ? { tools: [...tools], toolChoice: { type: 'tool', toolName: only } }
    : { tools: kept, toolChoice: { type: 'required' } };
}

interface ThinkingAsked {
  readonly effort?: Effort;
  /** The budget, for models of Anthropic that take one. */
  readonly budget?: { readonly type: 'enabled'; readonly budgetTokens: number } | undefined;
  /** The client wants to see thoughts. */
  readonly shown: boolean;
}

/** @param limit of the whole answer, in tokens. */
function readThinking(config: Field, limit = Number.POSITIVE_INFINITY): ThinkingAsked {
  const shown = at(config, 'includeThoughts').maybe((field) => field.flag()) === true;
  const level = at(config, 'thinkingLevel').maybe((field) =>
    field.oneOf(
      'MINIMAL',
      'LOW',
      'MEDIUM',
      'HIGH',
      'minimal',
      'low',
      'medium',
      'high',
      'THINKING_LEVEL_UNSPECIFIED',
    ),
  );
  const effort = levels.get(level?.toLowerCase());
  const tokens = at(config, 'thinkingBudget').maybe((field) => field.whole(-1));
  if (effort !== undefined || tokens === undefined) return { effort, shown };
  const fits = tokens >= MIN_ANTHROPIC_BUDGET && tokens < limit;
  return {
    effort: effortOfBudget(tokens),
    budget: fits ? { type: 'enabled', budgetTokens: tokens } : undefined,
    shown,
  };
}

const levels = new Map<string | undefined, Effort>([
  ['minimal', 'minimal'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
]);

function readFormat(config: Field): Conversation['responseFormat'] {
  const type = at(config, 'responseMimeType').maybe((field) => field.text()) ?? 'text/plain';
  const schema =
    at(config, 'responseJsonSchema').maybe((field) => field.schema()) ??
    config.get('_responseJsonSchema').maybe((field) => field.schema()) ??
    at(config, 'responseSchema').maybe(readSchema);
  return schema || type === 'application/json' ? { type: 'json', ...defined({ schema }) } : undefined;
}
