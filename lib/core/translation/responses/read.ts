import type { JsonObject } from '#lib/core/families/reading/json';
import type { Conversation, ReadRequest, Unreadable } from '#lib/core/translation/conversation';
import { defined, Field, readOrExplain, withOptions } from '#lib/core/translation/field';
import {
  audioPart,
  cacheMark,
  filePart,
  marked,
  picturePart,
  readArguments,
  readEffort,
  readFormat,
  refuseStored,
  resultOf,
  sharedOptions,
  textPart,
  type UserPart,
} from '#lib/core/translation/openai/parts';
import { customArguments, readChoice } from '#lib/core/translation/openai/tools';
import { addedTools, isSearch, joinedName, readTools } from '#lib/core/translation/responses/tools';
import { Turns } from '#lib/core/translation/turns';

/** Reads a request for a response, except what `fields` refuses (docs/decisions/translation.md). */
export function read(body: JsonObject): ReadRequest | Unreadable {
  return readOrExplain(() => {
    const request = new Field(body);
    const input = request.get('input');
    const items = typeof input.value === 'string' ? [] : input.items();
    const { declared, byName } = readTools([...request.get('tools').items(), ...addedTools(items)]);
    const choice = readChoice(request.get('tool_choice'), declared, nameOfTool);
    const text = request.get('text');
    const format = text.maybe((field) => field.get('format').maybe(readFormat));
    const reasoning = request.get('reasoning');
    const summary = reasoning.maybe((field) =>
      field.get('summary').maybe((one) => one.oneOf('auto', 'concise', 'detailed')),
    );
    const shared = sharedOptions(request);
    const conversation: Conversation = {
      prompt: readPrompt(request, items),
      ...defined({
        maxOutputTokens: request.get('max_output_tokens').maybe((field) => field.whole(1)),
        temperature: request.get('temperature').maybe((field) => field.number()),
        topP: request.get('top_p').maybe((field) => field.number()),
        responseFormat: format?.responseFormat,
        tools: choice.tools.length > 0 ? choice.tools : undefined,
        toolChoice: choice.toolChoice,
        reasoning: reasoning.maybe((field) => field.get('effort').maybe(readEffort)),
      }),
      ...withOptions({
        openai: defined({
          ...shared.openai,
          strictJsonSchema: format?.strict,
          textVerbosity: text.maybe((one) =>
            one.get('verbosity').maybe((level) => level.oneOf('low', 'medium', 'high')),
          ),
        }),
        anthropic: shared.anthropic,
        google: defined({ thinkingConfig: summary === undefined ? undefined : { includeThoughts: true } }),
      }),
    };
    return { conversation, echo: { request: repeated(body), toolsByName: byName } };
  });
}

/** Fields of the request that a response repeats. */
const repeatedNames = [
  'instructions',
  'max_output_tokens',
  'metadata',
  'parallel_tool_calls',
  'prompt_cache_key',
  'reasoning',
  'safety_identifier',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_p',
  'user',
];

function repeated(body: JsonObject): JsonObject {
  return Object.fromEntries(
    repeatedNames.flatMap((name) => ((body[name] ?? null) === null ? [] : [[name, body[name]]])),
  );
}

/** The tool that an entry of `tool_choice` names. */
function nameOfTool(entry: Field): Field {
  const type = entry.get('type');
  if (isSearch(type.value)) return new Field('web_search', type.path);
  type.oneOf('function', 'custom');
  return entry.get('name');
}

function readPrompt(request: Field, items: readonly Field[]): Conversation['prompt'] {
  const turns = new Turns();
  const instructions = request.get('instructions').maybe((field) => field.text());
  for (const part of textPart(instructions ?? '')) turns.system(part);
  const input = request.get('input');
  if (typeof input.value === 'string') turns.user(textPart(input.value));
  for (const item of items) readItem(item, turns);
  return turns.end(input);
}

/** Items that say nothing for the next answer: its text has what these tools found. */
const traces = [
  'additional_tools',
  'tool_search_call',
  'tool_search_output',
  'web_search_call',
  'mcp_list_tools',
];

/** Types of items that are read. */
export const itemTypes = [
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  ...traces,
];

function readItem(item: Field, turns: Turns): void {
  const type = item.get('type').maybe((field) => field.name()) ?? 'message';
  switch (type) {
    case 'message':
      readMessage(item, turns);
      break;
    case 'reasoning':
      readThinking(item, turns);
      break;
    case 'function_call':
      turns.call(item.get('call_id'), nameOfCall(item), readArguments(item.get('arguments')));
      break;
    case 'custom_tool_call':
      turns.call(item.get('call_id'), nameOfCall(item), customArguments(item.get('input').text()));
      break;
    case 'function_call_output':
    case 'custom_tool_call_output':
      turns.result(item.get('call_id'), resultOf(readParts(item.get('output'))));
      break;
    default:
      if (!traces.includes(type)) {
        item.get('type').refuse(`is "${type}", an item that only its own provider reads; leave it out.`);
      }
  }
}

function nameOfCall(item: Field): string {
  return joinedName(item.get('namespace').maybe((field) => field.text()) ?? null, item.get('name').name());
}

function readMessage(item: Field, turns: Turns): void {
  const parts = readParts(item.get('content'));
  const role = item.get('role').oneOf('user', 'assistant', 'system', 'developer');
  if (role === 'user') turns.user(parts);
  else
    for (const part of parts) {
      if (part.type !== 'text') item.get('content').wrong(`text, because its role is "${role}"`);
      else if (role === 'assistant') turns.text(part);
      else turns.system(part);
    }
}

/** Each text of the summary is a block of its own to the provider that signed them. */
function readThinking(item: Field, turns: Turns): void {
  const field = item.get('encrypted_content').maybe((one) => one.text());
  const told = [...item.get('summary').items(), ...item.get('content').items()].map((part) =>
    part.get('text').text(),
  );
  for (const text of told.length > 0 ? told : ['']) turns.thinking(text, field);
}

function readParts(content: Field): UserPart[] {
  if (typeof content.value === 'string') return textPart(content.value);
  return content.items().flatMap((part): UserPart[] => {
    const type = part
      .get('type')
      .oneOf('input_text', 'output_text', 'text', 'refusal', 'input_image', 'input_file', 'input_audio');
    switch (type) {
      case 'input_image': {
        if (!part.get('file_id').isAbsent) refuseStored(part.get('file_id'), '"image_url"');
        return [marked(picturePart(part.get('image_url'), part.get('detail')), part)];
      }
      case 'input_file':
        return [marked(filePart(part), part)];
      case 'input_audio':
        return [audioPart(part.get('input_audio'))];
      default:
        return textPart(part.get(type === 'refusal' ? type : 'text').text(), cacheMark(part));
    }
  });
}
