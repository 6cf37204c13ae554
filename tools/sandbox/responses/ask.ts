import { schemaOf } from '#tools/sandbox/chat/ask';
import { textTokens } from '#tools/sandbox/content/tokens';
import { record, type Tool, type ToolChoice } from '#tools/sandbox/content/tool-call';
import { type Input, type Lookup, readInput } from '#tools/sandbox/responses/input';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** What a request for a response asks for, read leniently as providers do. */
export interface ResponsesAsk extends Input {
  readonly model: string;
  readonly stream: boolean;
  readonly background: boolean;
  readonly store: boolean;
  readonly previousId: string | null;
  /** Output tokens, reasoning included; null: silent. */
  readonly budget: number | null;
  readonly serviceTier: string | null;
  readonly cacheKey: string | null;
  /** The answer's reasoning comes with its encrypted content. */
  readonly sealsReasoning: boolean;
  /** Pictures told before the finished one. */
  readonly partialImages: number;
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  /** The JSON schema that its text must follow; null: any text. */
  readonly schema: object | null;
  /** The image tool is declared, and the prompt says "draw": its model, "" where none is named. */
  readonly imageModel: string | null;
  /** A web search is declared, and the prompt says "search". */
  readonly searches: boolean;
  /** The body as it was sent: the answer repeats parts of it. */
  readonly asked: Readonly<Record<string, unknown>>;
}

/** @throws ProviderFault 400 in the family's words, 404 for an unknown item. */
export function readResponsesAsk(body: Buffer, lookup: Lookup): ResponsesAsk {
  const asked = parseBody(body);
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

function parseBody(body: Buffer): Record<string, unknown> {
  try {
    return record(JSON.parse(body.toString('utf8')));
  } catch {
    throw new ProviderFault(400, 'We could not parse the JSON body of your request.');
  }
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
