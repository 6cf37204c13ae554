import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4, LanguageModelV4Content } from '@ai-sdk/provider';
import { type JsonObject, listIn, objectIn, parseJson, textIn } from '#lib/core/families/reading/json';
import { partsOf } from '#lib/core/translation/answer-parts';
import type { AnswerPart, TextProtocol, WholeAnswer } from '#lib/core/translation/conversation';
import { type Recording, recordings } from '#tests/unit/relay/streams';
import { answering } from '#tests/unit/translation/answers';

/** Recorded answers of providers, as the packages read them and as they say of themselves. */

/** What an answer says, in the terms of no protocol. */
export interface Said {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: unknown }[];
  readonly reason: Reason;
}
type Reason = 'end' | 'length' | 'content-filter' | 'other';

export interface Tokens {
  readonly input: number;
  readonly cacheRead: number;
  readonly output: number;
}

export const families: Readonly<Record<TextProtocol, readonly string[]>> = {
  chat: ['chat', 'chat-compat'],
  responses: ['responses', 'responses-compat'],
  messages: ['messages'],
  'generate-content': ['generateContent', 'generateContent-vertex'],
};

/** Every successful answer with text of the other three protocols. */
export function answersOfOthers(
  own: TextProtocol,
): { readonly protocol: TextProtocol; readonly recording: Recording }[] {
  const others = (['chat', 'responses', 'messages', 'generate-content'] as const).filter(
    (one) => one !== own,
  );
  return others.flatMap((protocol) =>
    recordings(families[protocol])
      .filter(({ status, body }) => (status === null || status === 200) && isAnswer(protocol, body))
      .map((recording) => ({ protocol, recording })),
  );
}

/** Neither an error, a count nor a list. */
function isAnswer(protocol: TextProtocol, body: Buffer): boolean {
  const first = jsonOf(body)[0];
  if (protocol === 'chat') return Array.isArray(first?.choices);
  if (protocol === 'responses') return Array.isArray(first?.output) || first?.type === 'response.created';
  if (protocol === 'messages') return first?.type === 'message' || first?.type === 'message_start';
  return Array.isArray(first?.candidates);
}

/** The objects of a recording: of a whole body one, of a stream its events. */
function jsonOf(body: Buffer): JsonObject[] {
  const text = body.toString();
  const whole = parseJson(text);
  if (whole !== undefined) return objectsIn(Array.isArray(whole) ? whole : [whole]);
  return objectsIn(text.split(/\r?\n/).map((line) => parseJson(line.replace(/^data: ?/, ''))));
}

function objectsIn(values: readonly unknown[]): JsonObject[] {
  return values.map(objectIn).filter((one) => one !== null);
}

/** The answer as the provider's package reads it, whole and in parts, whichever of them was recorded. */
export async function readWithPackage(
  protocol: TextProtocol,
  { body, stream }: Recording,
): Promise<{ parts: readonly AnswerPart[]; whole: WholeAnswer }> {
  const options = { prompt: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'x' }] }] };
  if (!stream) {
    const whole = await modelFor(protocol, answering(body, 'application/json', 9_999)).doGenerate(options);
    return { whole, parts: [...partsOf(whole)] };
  }
  const isArray = body.toString().trimStart().startsWith('[');
  const events = isArray
    ? jsonOf(body)
        .map((one) => `data: ${JSON.stringify(one)}\n\n`)
        .join('')
    : body;
  const model = modelFor(protocol, answering(events, 'text/event-stream', 9_999));
  const parts: AnswerPart[] = [];
  for await (const part of (await model.doStream(options)).stream) parts.push(part);
  return { parts, whole: wholeOf(parts) };
}

function modelFor(protocol: TextProtocol, fetch: typeof globalThis.fetch): LanguageModelV4 {
  const settings = { apiKey: 'k', baseURL: 'http://provider', fetch };
  if (protocol === 'chat') return createOpenAI(settings).chat('gpt-5');
  if (protocol === 'responses') return createOpenAI(settings).responses('gpt-5');
  if (protocol === 'messages') return createAnthropic(settings)('claude-sonnet-4-5');
  return createGoogleGenerativeAI(settings)('gemini-2.5-flash');
}

function wholeOf(parts: readonly AnswerPart[]): WholeAnswer {
  const content: LanguageModelV4Content[] = [];
  const open = new Map<string, { text: string }>();
  for (const part of parts) {
    if (part.type === 'text-start' || part.type === 'reasoning-start') {
      const block = {
        type: part.type === 'text-start' ? ('text' as const) : ('reasoning' as const),
        text: '',
      };
      open.set(part.id, block);
      content.push(block);
    }
    if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      const block = open.get(part.id);
      if (block) block.text += part.delta;
    }
    if (part.type === 'tool-call' || part.type === 'source' || part.type === 'file') content.push(part);
  }
  const end = parts.findLast((part) => part.type === 'finish');
  if (end?.type !== 'finish') throw new Error('the stream has no end');
  return { content, finishReason: end.finishReason, usage: end.usage };
}

/** The tokens as the index of the recordings has them; none are 0. */
export function tokensIn({ norm }: Recording): Tokens {
  const {
    input_total,
    input_uncached = 0,
    cache_read = 0,
    cache_write_5m = 0,
    cache_write_1h = 0,
    output = 0,
  } = norm ?? {};
  return {
    input: input_total ?? input_uncached + cache_read + cache_write_5m + cache_write_1h,
    cacheRead: cache_read,
    output,
  };
}

/** What a recording says, read without the packages. */
export function saidIn(protocol: TextProtocol, { body }: Recording): Said {
  const objects = jsonOf(body);
  if (protocol === 'chat') return saidInChat(objects);
  if (protocol === 'responses') return saidInResponses(objects);
  if (protocol === 'messages') return saidInMessages(objects);
  return saidInContent(objects);
}

interface Call {
  name: string;
  json: string;
}
const called = (calls: Iterable<Call>) =>
  [...calls].map(({ name, json }) => ({ name, args: json.trim() === '' ? {} : JSON.parse(json) }));

function saidInChat(objects: readonly JsonObject[]): Said {
  let text = '';
  let reason: unknown = null;
  const calls = new Map<unknown, Call>();
  for (const object of objects) {
    const choice = objectIn(listIn(object.choices)[0]);
    const message = objectIn(choice?.delta) ?? objectIn(choice?.message);
    text += (textIn(message?.content) ?? '') + (textIn(message?.refusal) ?? '');
    reason = choice?.finish_reason ?? reason;
    for (const [index, value] of listIn(message?.tool_calls).entries()) {
      const tool = objectIn(value);
      const call = calls.get(tool?.index ?? index) ?? { name: '', json: '' };
      calls.set(tool?.index ?? index, call);
      const { name, arguments: json } = objectIn(tool?.function) ?? {};
      call.name += textIn(name) ?? '';
      call.json += textIn(json) ?? '';
    }
  }
  return { text, calls: called(calls.values()), reason: reasonFor(reason) };
}

function saidInResponses(objects: readonly JsonObject[]): Said {
  const last = objects.at(-1);
  const answer = objectIn(last?.response) ?? last ?? {};
  const items = objectsIn(listIn(answer.output));
  const contents = items.flatMap(({ type, content }) => (type === 'message' ? listIn(content) : []));
  const calls = items.filter(({ type }) => type === 'function_call');
  return {
    text: contents.map((one) => textIn(objectIn(one)?.text) ?? textIn(objectIn(one)?.refusal) ?? '').join(''),
    calls: called(calls.map((one) => ({ name: String(one.name), json: String(one.arguments) }))),
    reason: reasonFor(objectIn(answer.incomplete_details)?.reason ?? answer.status),
  };
}

function saidInMessages(objects: readonly JsonObject[]): Said {
  let text = '';
  let reason: unknown = null;
  const calls = new Map<unknown, Call>();
  const read = (block: JsonObject | null, index: unknown) => {
    text += (block?.type === 'text' && textIn(block.text)) || '';
    if (block?.type !== 'tool_use') return;
    const input = objectIn(block.input) ?? {};
    calls.set(index, {
      name: String(block.name),
      json: Object.keys(input).length > 0 ? JSON.stringify(input) : '',
    });
  };
  for (const object of objects) {
    const message = objectIn(object.message) ?? object;
    listIn(message.content).forEach((block, index) => {
      read(objectIn(block), index);
    });
    const delta = objectIn(object.delta);
    reason = delta?.stop_reason ?? message.stop_reason ?? reason;
    read(objectIn(object.content_block), object.index);
    text += (delta?.type === 'text_delta' && textIn(delta.text)) || '';
    const call = calls.get(object.index);
    if (call) call.json += textIn(delta?.partial_json) ?? '';
  }
  return { text, calls: called(calls.values()), reason: reasonFor(reason) };
}

function saidInContent(objects: readonly JsonObject[]): Said {
  let text = '';
  let reason: unknown = null;
  const calls: Call[] = [];
  for (const object of objects) {
    const candidate = objectIn(listIn(object.candidates)[0]);
    reason = candidate?.finishReason ?? reason;
    for (const value of listIn(objectIn(candidate?.content)?.parts)) {
      const part = objectIn(value);
      if (part?.thought !== true) text += textIn(part?.text) ?? '';
      const call = objectIn(part?.functionCall);
      if (call) calls.push({ name: String(call.name), json: JSON.stringify(call.args ?? {}) });
    }
  }
  return { text, calls: called(calls), reason: reasonFor(reason) };
}

/** A call is no reason of its own here: not all protocols have one for it. */
export function reasonFor(raw: unknown): Reason {
  if (/^(stop|end_turn|stop_sequence|tool_use|tool_calls|completed?|STOP|pause_turn)$/.test(String(raw)))
    return 'end';
  if (/^(length|max_tokens|max_output_tokens|MAX_TOKENS)$/.test(String(raw))) return 'length';
  return /^(content_filter|refusal|SAFETY)$/.test(String(raw)) ? 'content-filter' : 'other';
}
