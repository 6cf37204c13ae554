import { schemaOf, type TextAsk } from '#tools/sandbox/chat/ask';
import { textTokens } from '#tools/sandbox/content/tokens';
import { readJson, record, type ToolChoice } from '#tools/sandbox/content/tool-call';
import { type Input, type Lookup, readInput } from '#tools/sandbox/responses/input';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** What a request for a response asks for, read as leniently as providers do. */
export interface ResponsesAsk extends Input, TextAsk {
  readonly transcript: string;
  readonly background: boolean;
  readonly store: boolean;
  readonly previousId: string | null;
  /** The conversation that it reads and extends. */
  readonly conversationId: string | null;
  /** The answer includes the encrypted content of its reasoning. */
  readonly sealsReasoning: boolean;
  /** Partial images sent before the finished one. */
  readonly partialImages: number;
  /** The image tool is declared, and the prompt says "draw": its model, "" if none is named. */
  readonly imageModel: string | null;
  /** A web search is declared, and the prompt says "search". */
  readonly searches: boolean;
  /** The body as it was sent: the answer repeats parts of it. */
  readonly asked: Readonly<Record<string, unknown>>;
}

/** @throws ProviderFault 400 with the family's message, 404 for an unknown item. */
export function readResponsesAsk(body: Buffer, lookup: Lookup): ResponsesAsk {
  const asked = readJson(body);
  if (typeof asked.model !== 'string') throw invalid("Missing required parameter: 'model'.", 'model');
  const store = asked.store !== false;
  if (asked.background === true && !store) throw invalid("Background mode requires 'store'.", 'background');
  const budget = asked.max_output_tokens ?? null;
  if (budget !== null && !(typeof budget === 'number' && Number.isInteger(budget) && budget >= 16)) {
    const message = "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.";
    throw invalid(message, 'max_output_tokens', 'integer_below_min_value');
  }
  const tools = Array.isArray(asked.tools) ? asked.tools.map(record) : [];
  const input = readInput(asked.input, lookup);
  const declared = textTokens(tools.length > 0 ? JSON.stringify(tools) : '');
  const said = textTokens(typeof asked.instructions === 'string' ? asked.instructions : '');
  const typed = (prefix: string) => tools.find(({ type }) => String(type).startsWith(prefix));
  const image = typed('image_generation');
  return {
    ...input,
    inputTokens: 3 + declared + said + input.inputTokens,
    model: asked.model,
    stream: asked.stream === true,
    background: asked.background === true,
    store,
    previousId: textOrNull(asked.previous_response_id),
    conversationId: textOrNull(asked.conversation) ?? textOrNull(record(asked.conversation).id),
    budget,
    serviceTier: textOrNull(asked.service_tier),
    cacheKey: textOrNull(asked.prompt_cache_key),
    sealsReasoning: Array.isArray(asked.include) && asked.include.includes('reasoning.encrypted_content'),
    partialImages: typeof image?.partial_images === 'number' ? Math.min(3, image.partial_images) : 0,
    tools: tools.flatMap(({ type, name, parameters }) =>
      type === 'function' && typeof name === 'string' ? [{ name, parameters }] : [],
    ),
    schema: schemaOf(record(asked.text).format, record(record(asked.text).format)),
    toolChoice: input.answersTool ? 'none' : readToolChoice(asked.tool_choice),
    imageModel: image && input.prompt.includes('draw') ? (textOrNull(image.model) ?? '') : null,
    searches: typed('web_search') !== undefined && input.prompt.includes('search'),
    asked,
  };
}

function invalid(message: string, param: string, code = 'missing_required_parameter'): ProviderFault {
  return new ProviderFault(400, message, code, param);
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function readToolChoice(choice: unknown): ToolChoice {
  if (choice === 'none' || choice === 'required') return choice;
  const { name } = record(choice);
  return typeof name === 'string' ? { name } : 'auto';
}
