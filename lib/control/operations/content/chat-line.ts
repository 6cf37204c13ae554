import { createParser } from 'eventsource-parser';
import { type CalledTool, calledTools } from '#lib/control/operations/content/called-tools';
import type { ShownContent } from '#lib/control/operations/content/shown';
import { type JsonObject, listIn, objectIn, parseJson, textIn } from '#lib/core/families/reading/json';
import { isUnreadable, type TextProtocol, textProtocols } from '#lib/core/translation/conversation';
import { translations } from '#lib/core/translation/index';
import { omittedData } from '#lib/gateway/content/pure/without-data';

/**
 * A call as a line of JSONL in the chat format: `{"messages": […], "tools": […]}`, with the answer as the last message
 * (contract: content/export). Pure.
 * @returns null: it is no conversation, or was not kept as a whole.
 */
export function chatLine(
  family: string,
  { request, answer }: Pick<ShownContent, 'request' | 'answer'>,
): string | null {
  const protocol = textProtocols.find((one) => one === family);
  if (!protocol || request.text === null || answer.text === null || request.cut || answer.cut) return null;
  const body = objectIn(parseJson(request.text));
  const asked = body && askedOf(protocol, body);
  const answered = answerOf(protocol, answer.text, answer.contentType);
  if (!asked || answered === null) return null;
  return JSON.stringify({ ...asked, messages: [...asked.messages, answered] });
}

interface Asked {
  readonly messages: readonly unknown[];
  readonly tools?: readonly unknown[];
}

function askedOf(protocol: TextProtocol, body: JsonObject): Asked | null {
  if (protocol === 'chat') {
    const { messages, tools } = body;
    return { messages: listIn(messages), ...(Array.isArray(tools) ? { tools } : {}) };
  }
  try {
    const read = translations[protocol].read(body);
    if (isUnreadable(read)) return null;
    const { prompt, tools = [] } = read.conversation;
    const functions = tools.flatMap((tool) =>
      tool.type === 'function'
        ? [
            {
              type: 'function',
              function: { name: tool.name, description: tool.description, parameters: tool.inputSchema },
            },
          ]
        : [],
    );
    return {
      messages: prompt.flatMap(({ role, content }) => messagesOf(role, content)),
      ...(functions.length > 0 ? { tools: functions } : {}),
    };
  } catch {
    // A reader may expect of a request what the provider refused.
    return null;
  }
}

/** A message of the AI SDK's prompt in the chat format; each result of a tool is a message of its own. */
function messagesOf(role: string, content: string | readonly unknown[]): unknown[] {
  if (typeof content === 'string') return [{ role, content }];
  const parts = objectsIn(content);
  const results = parts.filter(({ type }) => type === 'tool-result');
  if (role === 'tool') {
    return results.map(({ toolCallId, output }) => ({
      role,
      tool_call_id: toolCallId,
      content: jsonText(objectIn(output)?.value),
    }));
  }
  if (role === 'assistant') {
    const tools = parts
      .filter(({ type }) => type === 'tool-call')
      .map(({ toolCallId, toolName, input }) => ({
        id: String(toolCallId),
        name: String(toolName),
        input: jsonText(input),
      }));
    return [assistant(textIn(parts.flatMap(spoken).join('')), tools)];
  }
  const files = parts.filter(({ type }) => type === 'file');
  const texts = parts.flatMap(spoken);
  if (files.length === 0) return [{ role, content: texts.join('\n') }];
  return [{ role, content: [...texts.map((text) => ({ type: 'text', text })), ...files.map(fileOf)] }];
}

function spoken({ type, text }: JsonObject): string[] {
  return type === 'text' ? [String(text ?? '')] : [];
}

/** A picture by its address; of other files, only the type is known, because their data is not kept. */
function fileOf({ mediaType, data }: JsonObject): unknown {
  const { url, data: bytes } = objectIn(data) ?? {};
  if (url !== undefined) return { type: 'image_url', image_url: { url: String(url) } };
  const omitted = omittedData(String(bytes ?? ''));
  return { type: 'text', text: `[${String(mediaType)}${omitted ? `, ${omitted.bytes} bytes` : ''}]` };
}

function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

function assistant(content: string | null, tools: readonly CalledTool[]): JsonObject {
  if (tools.length === 0) return { role: 'assistant', content: content ?? '' };
  const calls = tools.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: input === '' ? '{}' : input },
  }));
  return { role: 'assistant', content, tool_calls: calls };
}

/** The answer as a message; null: it is an error, or has no text and calls no tool. */
function answerOf(protocol: TextProtocol, text: string, contentType: string): JsonObject | null {
  const values = valuesOf(text, contentType);
  if (values.some(({ error, type }) => (error !== undefined && error !== null) || type === 'error'))
    return null;
  const said = values.map((value) => spokenIn(protocol, value)).join('');
  const tools = calledTools(values);
  return said === '' && tools.length === 0 ? null : assistant(said === '' ? null : said, tools);
}

/** The events of a stream, or the whole answer. */
function valuesOf(text: string, contentType: string): JsonObject[] {
  const values: unknown[] = [];
  if (contentType.startsWith('text/event-stream')) {
    createParser({ onEvent: ({ data }) => values.push(parseJson(data)) }).feed(text);
  } else {
    // A stream of generate-content may also be one JSON array.
    values.push(...[parseJson(text)].flat());
  }
  return objectsIn(values);
}

function objectsIn(values: readonly unknown[]): JsonObject[] {
  return values.flatMap((value): JsonObject[] => {
    const object = objectIn(value);
    return object ? [object] : [];
  });
}

/** The text that an event or a whole answer adds. */
function spokenIn(protocol: TextProtocol, value: JsonObject): string {
  if (protocol === 'chat') {
    const { delta, message } = objectIn(listIn(value.choices)[0]) ?? {};
    return partsText(objectIn(delta ?? message)?.content);
  }
  if (protocol === 'responses') {
    if (value.type === 'response.output_text.delta') return textIn(value.delta) ?? '';
    return listIn(value.output)
      .map((item) => (objectIn(item)?.type === 'message' ? partsText(objectIn(item)?.content) : ''))
      .join('');
  }
  if (protocol === 'messages') {
    if (value.type === 'content_block_delta') return textIn(objectIn(value.delta)?.text) ?? '';
    return value.type === 'message' ? partsText(value.content) : '';
  }
  const { content } = objectIn(listIn(value.candidates)[0]) ?? {};
  return partsText(listIn(objectIn(content)?.parts).filter((part) => objectIn(part)?.thought !== true));
}

/** Text, or the texts of parts. */
function partsText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listIn(content)
    .map((part) => textIn(objectIn(part)?.text) ?? '')
    .join('');
}
