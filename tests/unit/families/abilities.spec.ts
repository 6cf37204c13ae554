import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { type Ability, abilities } from '#lib/core/facts/abilities';
import type { Ask } from '#lib/core/families/family';
import type { FamilyId } from '#lib/core/families/ids';
import { families, familyOf } from '#lib/core/families/index';
import { scan } from '#lib/core/families/scan';
import { offeredOperations, unservedBy } from '#lib/core/families/served';
import { Asked } from '#lib/gateway/routing/pure/asked';
import { makeOffer } from '#tests/unit/families/make';

const operationNames: Partial<Record<FamilyId, string>> = {
  chat: 'chat.create',
  responses: 'responses.create',
  messages: 'messages.create',
  'generate-content': 'content.generate',
};

function askOf(family: FamilyId, body: object, name = operationNames[family]): Ask {
  const own = familyOf(family);
  const operation = own?.operations.find((one) => one.name === name);
  if (!own || !operation?.fields) throw new Error(`${family} has no operation ${name}`);
  const scanned = scan(Buffer.from(JSON.stringify(body)), operation.fields);
  if ('fault' in scanned) throw new Error(scanned.fault);
  const ask = own.readAsk({ operation, params: { model: 'm' }, scan: scanned });
  if (isRefusal(ask)) throw new Error(ask.message);
  return ask;
}

/** All that a body asks for, as an offer that lacks everything shows it. */
function askedBy(family: FamilyId, body: object, name?: string): readonly Ability[] {
  return new Asked(askOf(family, { model: 'm', ...body }, name), family).lackedBy(
    makeOffer({ families: new Set([family]), lacks: abilities }),
  );
}

const chat = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const messages = (...content: object[]) => ({ max_tokens: 5, ...chat(...content) });
const input = (...content: object[]) => ({ input: [{ role: 'user', content }] });
const contents = (...parts: object[]) => ({ contents: [{ role: 'user', parts }] });
const text = { type: 'text', text: 'say {"type":"image"} and "image_url"' };
const pixels = { type: 'image', source: { type: 'url', url: 'https://a.test/p.png' } };
const source = (type: string, more: object = {}) => ({ type: 'document', source: { type, ...more } });
const called = { type: 'tool_use', id: 't', name: 'f', input: { type: 'image', content: [pixels] } };

describe('what a request asks of an offer (contract: routing/abilities)', () => {
  it.each<[FamilyId, string, object, Ability[]]>([
    ['chat', 'text', chat({ type: 'text', text: 'hello' }), []],
    ['chat', 'text that mentions media', chat(text), []],
    ['chat', 'a tool', { ...chat(text), tools: [{ type: 'function', function: { name: 'f' } }] }, ['tools']],
    ['chat', 'no tool', { ...chat(text), tools: [] }, []],
    ['chat', 'a function', { ...chat(text), functions: [{ name: 'f' }] }, ['tools']],
    ['chat', 'a schema', { ...chat(text), response_format: { type: 'json_schema' } }, ['schemas']],
    ['chat', 'JSON', { ...chat(text), response_format: { type: 'json_object' } }, []],
    ['chat', 'effort', { ...chat(text), reasoning_effort: 'high' }, ['thinking']],
    ['chat', 'no effort', { ...chat(text), reasoning_effort: 'none' }, []],
    [
      'chat',
      'a picture',
      chat(text, { type: 'image_url', image_url: { url: 'https://a.test/p' } }),
      ['images'],
    ],
    ['chat', 'a file', chat({ type: 'file', file: { file_id: 'f' } }), ['pdf']],
    ['chat', 'speech', chat({ type: 'input_audio', input_audio: { data: 'a', format: 'wav' } }), ['audio']],
    ['chat', 'a voice', { ...chat(text), audio: { voice: 'a', format: 'wav' } }, ['audio']],
    ['chat', 'a video', chat({ type: 'video_url', video_url: { url: 'https://a.test/v' } }), ['video']],
    ['chat', 'a stream', { ...chat(text), stream: true }, ['streaming']],
    ['chat', 'a search', { ...chat(text), web_search_options: {} }, ['webSearch']],
    ['responses', 'text', { input: 'hello' }, []],
    ['responses', 'a tool', { input: 'hello', tools: [{ type: 'function', name: 'f' }] }, ['tools']],
    ['responses', 'a search', { input: 'hello', tools: [{ type: 'web_search' }] }, ['tools', 'webSearch']],
    ['responses', 'a schema', { input: 'a', text: { format: { type: 'json_schema' } } }, ['schemas']],
    ['responses', 'text in words', { input: 'a', text: { format: { type: 'text' } } }, []],
    ['responses', 'effort', { input: 'a', reasoning: { effort: 'low' } }, ['thinking']],
    ['responses', 'a picture', input({ type: 'input_image', image_url: 'https://a.test/p' }), ['images']],
    ['responses', 'a file', input({ type: 'input_file', file_url: 'https://a.test/f' }), ['pdf']],
    [
      'responses',
      'a picture that a tool gave',
      {
        input: [
          {
            type: 'function_call_output',
            call_id: 'c',
            output: [{ type: 'input_image', image_url: 'https://a.test/p' }],
          },
        ],
      },
      ['images'],
    ],
    [
      'responses',
      'arguments that look like a picture',
      { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{"type":"input_image"}' }] },
      [],
    ],
    ['messages', 'text', messages(text), []],
    ['messages', 'a tool', { ...messages(text), tools: [{ name: 'f', input_schema: {} }] }, ['tools']],
    ['messages', 'a picture', messages(pixels), ['images']],
    ['messages', 'a PDF', messages(source('base64', { media_type: 'application/pdf', data: 'a' })), ['pdf']],
    ['messages', 'a document of text', messages(source('text', { data: 'a' })), []],
    [
      'messages',
      'a picture that a tool gave',
      messages({ type: 'tool_result', tool_use_id: 't', content: [pixels] }),
      ['images'],
    ],
    ['messages', 'input of a tool that looks like a picture', messages(called), []],
    ['messages', 'thinking', { ...messages(text), thinking: { type: 'adaptive' } }, ['thinking']],
    ['messages', 'no thinking', { ...messages(text), thinking: { type: 'disabled' } }, []],
    [
      'messages',
      'a schema',
      { ...messages(text), output_config: { format: { type: 'json_schema', schema: {} } } },
      ['schemas'],
    ],
    ['generate-content', 'text', contents({ text: 'a "image/png"' }), []],
    [
      'generate-content',
      'a tool',
      { ...contents({ text: 'a' }), tools: [{ functionDeclarations: [] }] },
      ['tools'],
    ],
    [
      'generate-content',
      'a schema',
      { ...contents({ text: 'a' }), generationConfig: { responseSchema: { type: 'OBJECT' } } },
      ['schemas'],
    ],
    [
      'generate-content',
      'thinking, spelled with underscores',
      { ...contents({ text: 'a' }), generation_config: { thinking_config: { thinking_budget: 100 } } },
      ['thinking'],
    ],
    [
      'generate-content',
      'no thinking',
      { ...contents({ text: 'a' }), generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
      [],
    ],
    [
      'generate-content',
      'a picture',
      contents({ inlineData: { mimeType: 'image/png', data: 'a' } }),
      ['images'],
    ],
    [
      'generate-content',
      'a PDF',
      contents({ file_data: { mime_type: 'application/pdf', file_uri: 'https://a.test/f' } }),
      ['pdf'],
    ],
    [
      'generate-content',
      'a video',
      contents({ inlineData: { mimeType: 'video/mp4', data: 'a' } }),
      ['video'],
    ],
    [
      'generate-content',
      'speech of one turn without its list',
      { contents: { parts: { inlineData: { mimeType: 'audio/wav', data: 'a' } } } },
      ['audio'],
    ],
    [
      'generate-content',
      'a picture that a function gave',
      contents({
        functionResponse: {
          name: 'f',
          response: {},
          parts: [{ inlineData: { mimeType: 'image/png', data: 'a' } }],
        },
      }),
      ['images'],
    ],
    [
      'generate-content',
      'arguments that look like a picture',
      contents({ functionCall: { name: 'f', args: { inlineData: { mimeType: 'image/png' } } } }),
      [],
    ],
  ])('%s: %s', (family, _, body, asked) => {
    expect(askedBy(family, body)).toEqual(asked);
  });

  it('counting tokens asks for nothing, and caching never decides', () => {
    const body = { ...messages(pixels), tools: [{ name: 'f' }] };
    expect(askedBy('messages', body, 'messages.count_tokens')).toEqual([]);
    const marked = messages({ ...text, cache_control: { type: 'ephemeral' } });
    expect(askedBy('messages', marked)).toEqual([]);
  });
});

describe('operations that an offer names (contract: routing/abilities)', () => {
  it('leave out the others of the same family only', () => {
    expect([...unservedBy(['responses.create'], ['chat', 'responses'])]).toEqual([
      'responses.compact',
      'responses.input_tokens',
    ]);
    expect(unservedBy([], ['chat', 'responses']).size).toBe(0);
  });

  it.each(families)('$id: all that generate or count may be named', ({ id, operations }) => {
    const named = operations.filter(({ steps }) => steps === 'generate' || steps === 'count');
    expect(offeredOperations([id])).toEqual(named.map(({ name }) => name));
  });
});
