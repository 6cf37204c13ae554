import type { JsonObject } from '#lib/core/families/reading/json';
import { readThinking } from '#lib/core/translation/chat/thinking';
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
  resultOf,
  sharedOptions,
  textPart,
  type UserPart,
} from '#lib/core/translation/openai/parts';
import {
  customArguments,
  customTool,
  functionTool,
  readChoice,
  searchTool,
  type Tool,
} from '#lib/core/translation/openai/tools';
import { Turns } from '#lib/core/translation/turns';

/** Reads a request for a chat completion, except what `fields` refuses (docs/decisions/translation.md). */
export function read(body: JsonObject): ReadRequest | Unreadable {
  return readOrExplain(() => {
    const request = new Field(body);
    const declared = request.get('tools').items();
    const { tools, toolChoice } = readChoice(request.get('tool_choice'), declared.map(readTool), nameOfTool);
    const search = request.get('web_search_options').maybe(searchTool);
    const format = request.get('response_format').maybe((field) => readFormat(field, 'json_schema'));
    const effort = readAskedEffort(request);
    const shared = sharedOptions(request);
    const all = search ? [...tools, search] : tools;
    const conversation: Conversation = {
      prompt: readMessages(request.get('messages')),
      ...readSampling(request),
      ...defined({
        maxOutputTokens: readBudget(request),
        responseFormat: format?.responseFormat,
        tools: all.length > 0 ? all : undefined,
        toolChoice,
        reasoning: effort,
      }),
      ...withOptions({
        openai: defined({
          ...shared.openai,
          metadata: request.get('metadata').maybe((field) => field.jsonObject()),
          promptCacheOptions: request.get('prompt_cache_options').maybe((field) => field.jsonObject()),
          strictJsonSchema: format?.strict,
          textVerbosity: request.get('verbosity').maybe((field) => field.oneOf('low', 'medium', 'high')),
        }),
        anthropic: shared.anthropic,
        google: defined({
          thinkingConfig: effort !== undefined && effort !== 'none' ? { includeThoughts: true } : undefined,
        }),
      }),
    };
    const includeUsage = request
      .get('stream_options')
      .maybe((field) => field.get('include_usage').maybe((one) => one.flag()));
    const custom = declared
      .filter((tool) => tool.get('type').value === 'custom')
      .map((tool) => nameOfTool(tool).name());
    return { conversation, echo: { includeUsage: includeUsage === true, customTools: custom } };
  });
}

function readSampling(request: Field): Partial<Conversation> {
  const number = (name: string) => request.get(name).maybe((field) => field.number());
  return defined({
    temperature: number('temperature'),
    topP: number('top_p'),
    topK: number('top_k'),
    presencePenalty: number('presence_penalty'),
    frequencyPenalty: number('frequency_penalty'),
    seed: number('seed'),
    stopSequences: request
      .get('stop')
      .maybe((field) =>
        typeof field.value === 'string' ? [field.name()] : field.items().map((one) => one.name()),
      ),
  });
}

/** The larger one, as for a native call (contract: admission/output-budget). */
function readBudget(request: Field): number | undefined {
  const older = request.get('max_tokens').maybe((field) => field.whole(1));
  const newer = request.get('max_completion_tokens').maybe((field) => field.whole(1));
  return older === undefined ? newer : Math.max(older, newer ?? 0);
}

/** OpenAI's field, or that of compatible servers. */
function readAskedEffort(request: Field): Conversation['reasoning'] {
  const nested = request.get('reasoning').maybe((field) => field.get('effort').maybe(readEffort));
  return request.get('reasoning_effort').maybe(readEffort) ?? nested;
}

function readTool(tool: Field): Tool {
  const type = tool.get('type');
  if (type.value !== 'function' && type.value !== 'custom') {
    type.refuse('must be "function" or "custom"; this model has no tools of another provider.');
  }
  const name = nameOfTool(tool).name();
  const declared =
    type.value === 'custom'
      ? customTool(tool.get('custom'), name)
      : functionTool(tool.get('function'), name, false);
  return { ...declared, ...cacheMark(tool) };
}

function nameOfTool(tool: Field): Field {
  return tool.get(tool.get('type').oneOf('function', 'custom')).get('name');
}

function readMessages(messages: Field): Conversation['prompt'] {
  const turns = new Turns();
  for (const message of messages.items()) {
    const content = message.get('content');
    switch (message.get('role').oneOf('system', 'developer', 'user', 'assistant', 'tool')) {
      case 'system':
      case 'developer':
        for (const part of readTexts(content)) turns.system(part);
        break;
      case 'user':
        turns.user(readParts(content));
        break;
      case 'assistant':
        readAnswer(message, turns);
        break;
      case 'tool':
        turns.result(message.get('tool_call_id'), resultOf(readParts(content)));
    }
  }
  return turns.end(messages);
}

function readAnswer(message: Field, turns: Turns): void {
  turns.endAnswer();
  for (const { text, field } of readThinking(message)) turns.thinking(text, field);
  for (const part of readTexts(message.get('content'))) turns.text(part);
  for (const part of textPart(message.get('refusal').maybe((field) => field.text()) ?? '')) turns.text(part);
  for (const call of message.get('tool_calls').items()) {
    const type = call.get('type').maybe((field) => field.oneOf('function', 'custom')) ?? 'function';
    const name = call.get(type).get('name').name();
    const input =
      type === 'custom'
        ? customArguments(call.get('custom').get('input').text())
        : readArguments(call.get('function').get('arguments'));
    turns.call(call.get('id'), name, input);
  }
}

/** Text only, as a string or in parts. */
function readTexts(content: Field): ReturnType<typeof textPart> {
  if (typeof content.value === 'string') return textPart(content.value);
  return content.items().flatMap((part) => {
    const type = part.get('type').oneOf('text', 'refusal');
    return textPart(part.get(type).text(), cacheMark(part));
  });
}

function readParts(content: Field): UserPart[] {
  if (typeof content.value === 'string') return textPart(content.value);
  return content.items().flatMap((part): UserPart[] => {
    const type = part.get('type').oneOf('text', 'image_url', 'input_audio', 'file');
    if (type === 'text') return textPart(part.get('text').text(), cacheMark(part));
    return [marked(readFile(part, type), part)];
  });
}

function readFile(part: Field, type: 'image_url' | 'input_audio' | 'file') {
  const at = part.get(type);
  if (type === 'image_url') return picturePart(at.get('url'), at.get('detail'));
  return type === 'file' ? filePart(at) : audioPart(at);
}
