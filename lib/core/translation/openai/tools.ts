import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { objectIn, parseJson } from '#lib/core/families/reading/json';
import type { Conversation } from '#lib/core/translation/conversation';
import { defined, type Field } from '#lib/core/translation/field';

export type Tool = NonNullable<Conversation['tools']>[number];

/**
 * @param name the name that the model sees.
 * @param strict what the protocol takes for granted; undefined: it leaves that to the provider.
 */
export function functionTool(at: Field, name: string, strict?: boolean): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name,
    inputSchema: at.get('parameters').maybe((field) => field.schema()) ?? { type: 'object', properties: {} },
    ...defined({
      description: at.get('description').maybe((field) => field.text()),
      strict: at.get('strict').maybe((field) => field.flag()) ?? strict,
    }),
  };
}

/** A tool that takes plain text is declared as a function of one string, because only OpenAI's models have such tools. */
export function customTool(at: Field, name: string): LanguageModelV4FunctionTool {
  const description = at.get('description').maybe((field) => field.text()) ?? '';
  return {
    type: 'function',
    name,
    description: [description, ...grammarOf(at.get('format'))].filter(Boolean).join('\n\n'),
    inputSchema: {
      type: 'object',
      properties: { input: { type: 'string' } },
      required: ['input'],
      additionalProperties: false,
    },
  };
}

function grammarOf(format: Field): string[] {
  if (format.isAbsent || format.get('type').oneOf('text', 'grammar') === 'text') return [];
  // Chat has these in an object of their own.
  const at = format.get('grammar').maybe((field) => field) ?? format;
  const syntax = at.get('syntax').oneOf('lark', 'regex');
  return [`"input" must match this grammar (${syntax}):\n${at.get('definition').text()}`];
}

/** The call of such a tool, as the function's arguments and back. */
export function customArguments(input: string): { input: string } {
  return { input };
}

/** @param json the arguments, or the text as a JSON string, which is how OpenAI's own calls of such tools are read. */
export function customInput(json: string): string {
  const value = parseJson(json);
  const input = objectIn(value)?.input ?? value;
  return typeof input === 'string' ? input : json;
}

/**
 * Which tool must be called. Where only some tools are allowed, only these are declared.
 * @param nameOf reads the tool that an entry names.
 */
export function readChoice(
  field: Field,
  tools: readonly Tool[],
  nameOf: (entry: Field) => Field,
): { tools: Tool[]; toolChoice?: Conversation['toolChoice'] } {
  const all = [...tools];
  if (field.isAbsent) return { tools: all };
  if (typeof field.value === 'string') {
    return { tools: all, toolChoice: { type: field.oneOf('auto', 'none', 'required') } };
  }
  const declared = (entry: Field): string => {
    const at = nameOf(entry);
    const name = at.name();
    return all.some((tool) => tool.name === name)
      ? name
      : at.refuse(`is "${name}", which is not in "tools".`);
  };
  if (field.get('type').value !== 'allowed_tools') {
    return { tools: all, toolChoice: { type: 'tool', toolName: declared(field) } };
  }
  // Chat has these in an object of their own.
  const allowed = field.get('allowed_tools').maybe((one) => one) ?? field;
  const names = allowed.get('tools').items().map(declared);
  return {
    tools: all.filter(({ name }) => names.includes(name)),
    toolChoice: { type: allowed.get('mode').oneOf('auto', 'required') },
  };
}

/** The provider's search, declared as OpenAI's package names it; a step for each target knows the target's own. */
export function searchTool(at: Field): Tool {
  const location = at.get('user_location');
  // Chat has the place in an object of its own.
  const place = location.maybe((field) => field.get('approximate').maybe((one) => one) ?? field);
  const filters = at.get('filters').maybe((one) =>
    one
      .get('allowed_domains')
      .items()
      .map((domain) => domain.name()),
  );
  const args = defined({
    searchContextSize: at.get('search_context_size').maybe((one) => one.oneOf('low', 'medium', 'high')),
    userLocation: place && { type: 'approximate', ...place.jsonObject() },
    filters: filters && { allowedDomains: filters },
    externalWebAccess: at.get('external_web_access').maybe((one) => one.flag()),
  });
  return { type: 'provider', id: 'openai.web_search', name: 'web_search', args };
}
