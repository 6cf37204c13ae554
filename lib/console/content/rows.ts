import { createParser } from 'eventsource-parser';
import { curlOf } from '#lib/console/content/curl';
import { type Seeded, seedOf } from '#lib/console/content/seed';
import { members, parsed, textOf } from '#lib/console/playground/answers/piece';
import { addPieces, emptyAnswer, piecesOfAnswer, piecesOfEvent } from '#lib/console/playground/answers/read';
import { showForeign } from '#lib/console/show/foreign';
import { calledTools } from '#lib/control/operations/content/called-tools';
import type { ShownContent } from '#lib/control/operations/content/shown';
import type { JsonObject } from '#lib/core/families/reading/json';
import { showCount } from '#lib/core/show-money';
import { isUnreadable, type TextProtocol, textProtocols } from '#lib/core/translation/conversation';
import { translations } from '#lib/core/translation/index';
import { omittedData } from '#lib/gateway/content/pure/without-data';

/** What a turn of a conversation says. */
export interface ContentPart {
  /** Its place in the turn. */
  readonly id: number;
  readonly kind: 'text' | 'thinking' | 'tool-call' | 'tool-result' | 'file' | 'error' | 'note';
  /** Of a tool: its name. */
  readonly name: string | null;
  readonly text: string;
}

export interface ContentTurn {
  /** Its place in the conversation. */
  readonly id: number;
  readonly who: 'System' | 'User' | 'Assistant' | 'Tool';
  readonly parts: readonly ContentPart[];
}

type Said = Omit<ContentPart, 'id'>;
type Turn = Pick<ContentTurn, 'who'> & { readonly parts: readonly Said[] };

/** Kept content, ready to read. */
export interface ContentRows {
  /** Empty: it is no conversation that can be read, so only the bodies are shown. */
  readonly turns: readonly ContentTurn[];
  readonly request: ContentBody;
  readonly answer: ContentBody;
  /** The request as a command; null: it was not kept as a whole. */
  readonly curl: string | null;
  /** The request as a question of the playground, or why it cannot be one. */
  readonly playground: Seeded;
}

interface ContentBody {
  readonly text: string;
  /** "1,204 bytes", "the first 1,048,576 bytes". */
  readonly size: string;
}

/** Which request it was. */
export interface ContentCall {
  readonly family: string;
  readonly operation: string;
  readonly requestedModel: string | null;
}

/**
 * Puts a conversation together from what was kept of a call (contract: content/what). Pure.
 * @param base address of the gateway, for the command.
 */
export function contentRowsOf(
  call: ContentCall,
  { request, answer }: ShownContent,
  base: string,
): ContentRows {
  const { family } = call;
  const protocol = textProtocols.find((one) => one === family);
  const asked = protocol ? turnsOf(protocol, request.text ?? '') : [];
  const answered = protocol ? answerOf(protocol, answer) : [];
  const turns =
    asked.length > 0 && answered.length > 0
      ? [...asked, { who: 'Assistant' as const, parts: answered }]
      : asked;
  return {
    turns: turns.map(numbered),
    request: bodyOf(request),
    answer: bodyOf(answer),
    curl: curlOf(call, { request, answer }, base),
    playground: seedOf(call, request.cut ? null : request.text),
  };
}

function numbered({ who, parts }: Turn, id: number): ContentTurn {
  return { id, who, parts: parts.map((part, place) => ({ ...part, id: place })) };
}

function bodyOf({ text, bytes, cut }: ShownContent['request']): ContentBody {
  const value = text === null || !/^\s*[[{]/.test(text) ? null : parsed(text);
  const shown = value === null ? text : JSON.stringify(value, null, 2);
  const size = `${showCount(bytes)} bytes`;
  return { text: shown ?? 'Not text.', size: cut ? `the first ${size}` : size };
}

const speakers = { system: 'System', user: 'User', assistant: 'Assistant', tool: 'Tool' } as const;

/** A request that cannot be read has no turns. */
function turnsOf(protocol: TextProtocol, body: string): Turn[] {
  const value = parsed(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  try {
    const read = translations[protocol].read(value as JsonObject);
    if (isUnreadable(read)) return [];
    return read.conversation.prompt.map(({ role, content }) => ({
      who: speakers[role],
      parts: typeof content === 'string' ? [said('text', content)] : content.map((part) => partOf(part)),
    }));
  } catch {
    // A reader may expect of a request what the provider refused.
    return [];
  }
}

const said = (kind: ContentPart['kind'], text: string, name: string | null = null): Said => ({
  kind,
  name,
  text,
});

/** A part of a message in the AI SDK's prompt. */
function partOf(part: unknown): Said {
  const { type, text, toolName, input, output, mediaType, data } = members(part);
  const name = showForeign(textOf(toolName));
  if (type === 'text') return said('text', textOf(text));
  if (type === 'reasoning') return said('thinking', textOf(text));
  if (type === 'tool-call') return said('tool-call', jsonText(input), name);
  if (type === 'tool-result') return said('tool-result', jsonText(members(output).value), name);
  return said('file', fileText(textOf(mediaType), data));
}

function fileText(mediaType: string, data: unknown): string {
  const { data: bytes, url } = members(data);
  if (url !== undefined) return `${mediaType || 'File'} at ${showForeign(String(url))}`;
  const omitted = omittedData(textOf(bytes));
  if (omitted === null) return mediaType || 'File';
  return `${mediaType || 'File'}, ${showCount(omitted.bytes)} bytes, SHA-256 ${omitted.sha256.slice(0, 12)}…`;
}

function jsonText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value ?? null, null, 2);
  const inner = /^\s*[[{]/.test(value) ? parsed(value) : null;
  return inner === null ? value : JSON.stringify(inner, null, 2);
}

/** What the model said, put together from a whole answer or the events of a stream. */
function answerOf(protocol: TextProtocol, { text, contentType }: ShownContent['answer']): Said[] {
  const body = text ?? '';
  const streamed = contentType.startsWith('text/event-stream');
  const values: unknown[] = [];
  let answer = emptyAnswer;
  if (streamed) {
    const parser = createParser({
      onEvent: ({ data }) => {
        values.push(parsed(data));
        answer = addPieces(answer, piecesOfEvent(protocol, data, 0));
      },
    });
    parser.feed(body);
  } else {
    const value = parsed(body);
    // A stream of generate-content may also be one JSON array.
    for (const one of Array.isArray(value) ? value : [value]) {
      values.push(one);
      answer = addPieces(answer, piecesOfAnswer(protocol, JSON.stringify(one ?? null)));
    }
  }
  return [
    ...(answer.thought ? [said('thinking', answer.thought)] : []),
    ...(answer.text ? [said('text', answer.text)] : []),
    ...calledTools(values.map(members)).map((call) =>
      said('tool-call', jsonText(call.input), showForeign(call.name)),
    ),
    ...(answer.cut ? [said('note', 'The output budget ended the answer.')] : []),
    ...(answer.fault ? [said('error', answer.fault.message)] : []),
  ];
}
