import { type GenerateContentResponse, GoogleGenAI } from '@google/genai';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { generateContent } from '#lib/core/families/generate-content';
import { ContentStream } from '#lib/core/families/generate-content/stream';
import { readContentUsage } from '#lib/core/families/generate-content/usage';
import type { AnswerFacts, AnswerPart } from '#lib/core/translation/conversation';
import { createWriter, writeWhole } from '#lib/core/translation/generate-content/write';
import { readMark } from '#lib/core/translation/thinking-mark';
import { askChat } from '#tests/unit/families/make';
import {
  answering,
  callParts,
  finish,
  makeFacts,
  makeUsage,
  mixedAnswer,
  textParts,
  writeAll,
} from '#tests/unit/translation/answers';

const thinkingFacts = makeFacts({ echo: { thoughts: true } });

afterEach(() => {
  vi.unstubAllGlobals();
});

function write(parts: readonly AnswerPart[], facts: AnswerFacts = makeFacts()): string {
  return writeAll(createWriter(facts), parts);
}

const google = () => new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: 'http://gateway' } });

/** The stream as the official SDK reads it; the SDK has no other way to be given its `fetch`. */
async function readWithSdk(stream: string, size?: number): Promise<GenerateContentResponse[]> {
  vi.stubGlobal('fetch', answering(stream, 'text/event-stream', size));
  const chunks: GenerateContentResponse[] = [];
  for await (const chunk of await google().models.generateContentStream({ model: 'm', contents: 'x' })) {
    chunks.push(chunk);
  }
  return chunks;
}

const partsOf = (chunks: readonly GenerateContentResponse[]) =>
  chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);

/** What the stream says, as a client puts it together. */
function readOut(chunks: readonly GenerateContentResponse[]) {
  const last = chunks.at(-1);
  const parts = partsOf(chunks);
  return {
    text: parts.map(({ text, thought }) => (thought ? '' : (text ?? ''))).join(''),
    thoughts: parts.map(({ text, thought }) => (thought ? text : '')).join(''),
    calls: parts.flatMap(({ functionCall }) => functionCall ?? []),
    reason: last?.candidates?.[0]?.finishReason,
    usage: last?.usageMetadata,
  };
}

describe('a streamed answer in the generateContent protocol', () => {
  it('consists of events of data, each with a part, in Google’s framing', () => {
    const stream = write([{ type: 'stream-start', warnings: [] }, ...textParts('0', 'Hel', 'lo'), finish()]);
    const events = stream.split('\r\n\r\n').slice(0, -1);
    expect(events.map((event) => event.slice(0, 6))).toEqual(['data: ', 'data: ', 'data: ']);
    const chunks = events.map((event) => JSON.parse(event.slice(6)));
    expect(chunks[0]).toEqual({
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hel' }] }, index: 0 }],
      modelVersion: 'vendor/name',
      responseId: '0198a3c4-0000-7000-8000-000000000001',
    });
    expect(chunks[2]).toMatchObject({
      candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
    });
  });

  it('gives two parallel calls, with usage in Google’s terms, to the official SDK', async () => {
    const usage = makeUsage({ input: 100, cacheRead: 60, cacheWrite: 10, output: 20, reasoning: 5 });
    const chunks = await readWithSdk(
      write([
        ...textParts('0', 'Both.'),
        ...callParts('call_1', 'weather', '{"city":', '"Bern"}'),
        ...callParts('call_2', 'time', ''),
        finish('tool-calls', usage),
      ]),
    );
    expect(readOut(chunks)).toEqual({
      text: 'Both.',
      thoughts: '',
      calls: [
        { id: 'call_1', name: 'weather', args: { city: 'Bern' } },
        { id: 'call_2', name: 'time', args: {} },
      ],
      reason: 'STOP',
      usage: {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        candidatesTokenCount: 15,
        thoughtsTokenCount: 5,
        totalTokenCount: 120,
      },
    });
  });

  it('stays in the history of the SDK’s chats', async () => {
    vi.stubGlobal('fetch', answering(write([...textParts('0', 'Hi'), finish()]), 'text/event-stream'));
    const chat = google().chats.create({ model: 'm' });
    for await (const _ of await chat.sendMessageStream({ message: 'Hello' }));
    expect(chat.getHistory(true).map(({ role }) => role)).toEqual(['user', 'model', 'model']);
  });

  it.each([
    ['stop', 'STOP'],
    ['length', 'MAX_TOKENS'],
    ['content-filter', 'SAFETY'],
    ['other', 'OTHER'],
  ] as const)('ends with the finish reason for %s', async (unified, reason) => {
    const chunks = await readWithSdk(write([...textParts('0', 'x'), finish(unified)]));
    expect(readOut(chunks).reason).toBe(reason);
  });

  it('says that a call is malformed if its arguments are not JSON, and leaves it out', async () => {
    const chunks = await readWithSdk(write([...callParts('c', 'look', '{"a":'), finish('tool-calls')]));
    expect(readOut(chunks)).toMatchObject({ calls: [], reason: 'MALFORMED_FUNCTION_CALL' });
  });

  it('has pictures as they are, and sources as what the answer is grounded on', async () => {
    const chunks = await readWithSdk(
      write([
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AA==' } },
        { type: 'source', sourceType: 'url', id: 's', url: 'https://example.org', title: 'Example' },
        finish(),
      ]),
    );
    expect(partsOf(chunks)[0]).toEqual({ inlineData: { mimeType: 'image/png', data: 'AA==' } });
    expect(chunks.at(-1)?.candidates?.[0]?.groundingMetadata).toEqual({
      groundingChunks: [{ web: { uri: 'https://example.org', title: 'Example' } }],
    });
  });

  it('has nothing for a ping, because the SDKs fail on anything but data', () => {
    expect(createWriter(makeFacts()).write({ type: 'ping' })).toBe('');
    expect(generateContent.signOfLife).toBeNull();
  });
});

describe('a stream of generateContent that breaks', () => {
  it('passes on the provider’s words and status as an error, and says nothing after it', async () => {
    const stream = write([
      ...textParts('0', 'x'),
      { type: 'error', error: { message: 'Too many', statusCode: 429 } },
      finish('error'),
    ]);
    expect(stream).not.toContain('finishReason');
    expect(
      stream.endsWith('{"error":{"code":429,"message":"Too many","status":"RESOURCE_EXHAUSTED"}}\r\n\r\n'),
    ).toBe(true);
    await expect(readWithSdk(stream)).rejects.toThrow('Too many');
  });

  it('is broken off with an error at which the SDK throws', async () => {
    const writer = createWriter(makeFacts());
    const stream =
      writer.write({ type: 'text-delta', id: '0', delta: 'x' }) + writer.breakOff('It was lost.');
    expect(writer.write(finish())).toBe('');
    await expect(readWithSdk(stream)).rejects.toThrow('It was lost.');
  });

  it.each(['interrupted', 'error'] as const)(
    'never ends normally where the provider’s end is %s',
    (unified) => {
      const stream = write([...textParts('0', 'x'), finish(unified)]);
      expect(stream).toContain('"error"');
      expect(stream).not.toContain('finishReason');
    },
  );
});

describe('thinking in an answer of the generateContent protocol', () => {
  const metadata = { anthropic: { signature: 'S' } };
  const thought: AnswerPart[] = [
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning-delta', id: 'r', delta: 'Hmm.' },
    { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata: metadata },
    { type: 'reasoning-end', id: 'r' },
  ];

  it('is shown to a client that asked for it, and ends with its mark', async () => {
    const chunks = await readWithSdk(write([...thought, ...textParts('0', 'Yes.'), finish()], thinkingFacts));
    expect(readOut(chunks)).toMatchObject({ thoughts: 'Hmm.', text: 'Yes.' });
    const signature = partsOf(chunks)[1]?.thoughtSignature;
    expect(readMark(signature)).toEqual({ maker: 'vendor', metadata });
  });

  it('is not shown to another client, but its mark is at the call that follows', async () => {
    const chunks = await readWithSdk(
      write([...thought, ...callParts('c', 'look', '{}'), finish('tool-calls')]),
    );
    expect(readOut(chunks).thoughts).toBe('');
    const [call] = partsOf(chunks);
    expect(call?.functionCall?.id).toBe('c');
    expect(readMark(call?.thoughtSignature)).toEqual({ maker: 'vendor', metadata });
  });

  it('has a mark of its own, also if its part has the id of an earlier one', async () => {
    const again: AnswerPart[] = [
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-end', id: 'r', providerMetadata: { other: { signature: 'T' } } },
    ];
    const parts = partsOf(await readWithSdk(write([...thought, ...again, finish()], thinkingFacts)));
    expect(readMark(parts[2]?.thoughtSignature)?.metadata).toEqual({ other: { signature: 'T' } });
  });

  it('has the mark of a call that the provider signed at the call itself', async () => {
    const providerMetadata = { google: { thoughtSignature: 'G' } };
    const parts = callParts('c', 'look', '{}').map((part) =>
      part.type === 'tool-call' ? { ...part, providerMetadata } : part,
    );
    const [call] = partsOf(await readWithSdk(write([...thought, ...parts, finish('tool-calls')])));
    expect(readMark(call?.thoughtSignature)).toEqual({
      maker: 'vendor',
      metadata: providerMetadata,
      toolCallId: 'c',
    });
  });
});

describe('any stream of generateContent', () => {
  it('has the text, the calls, the finish reason and the tokens of its parts, and a part in each chunk', async () => {
    const usages = fc.record({
      cacheRead: fc.nat(100),
      output: fc.integer({ min: 50, max: 500 }),
      reasoning: fc.nat(50),
      shown: fc.boolean(),
      size: fc.integer({ min: 1, max: 400 }),
    });
    await fc.assert(
      fc.asyncProperty(mixedAnswer, usages, async ({ parts, expected }, { shown, size, ...tokens }) => {
        const end = finish(expected.calls.length > 0 ? 'tool-calls' : 'stop', makeUsage(tokens));
        const stream = write([...parts, end], makeFacts({ echo: { thoughts: shown } }));
        const chunks = await readWithSdk(stream, size);
        const { text, calls, reason } = readOut(chunks);
        expect([...text].sort()).toEqual([...expected.text].sort());
        expect(calls.toSorted((one, other) => ((one.name ?? '') < (other.name ?? '') ? -1 : 1))).toEqual(
          expected.calls,
        );
        expect(reason).toBe('STOP');
        expect(chunks.every((chunk) => (chunk.candidates?.[0]?.content?.parts?.length ?? 0) > 0)).toBe(true);
        expect(meterOf(stream)).toMatchObject({
          input: 100 - tokens.cacheRead,
          cachedInput: tokens.cacheRead,
          output: tokens.output,
          reasoning: tokens.reasoning,
        });
      }),
    );
  });
});

/** The gateway's own reader of the family. */
function meterOf(stream: string) {
  const reader = new ContentStream(askChat({ model: 'm', messages: [] }));
  for (const event of stream.split('\r\n\r\n').slice(0, -1)) reader.event(null, event.slice(6));
  expect(reader.ended && reader.finished && !reader.failed).toBe(true);
  return reader.report()?.usage;
}

describe('a whole answer in the generateContent protocol', () => {
  it('is read by the official SDK, with the mark beside the thought', async () => {
    const whole = writeWhole(
      {
        content: [
          { type: 'reasoning', text: 'Hmm.', providerMetadata: { anthropic: { signature: 'S' } } },
          { type: 'text', text: 'Yes.' },
          { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{"a":1}' },
        ],
        finishReason: { unified: 'tool-calls', raw: 'tool_use' },
        usage: makeUsage({ cacheRead: 3, reasoning: 2 }),
      },
      thinkingFacts,
    );
    vi.stubGlobal('fetch', answering(JSON.stringify(whole), 'application/json'));
    const response = await google().models.generateContent({ model: 'm', contents: 'x' });
    const [thought, text, call] = response.candidates?.[0]?.content?.parts ?? [];
    expect(thought).toMatchObject({ text: 'Hmm.', thought: true });
    expect(readMark(thought?.thoughtSignature)).toMatchObject({
      metadata: { anthropic: { signature: 'S' } },
    });
    expect(text).toEqual({ text: 'Yes.' });
    expect(call).toMatchObject({ functionCall: { id: 'c', name: 'look', args: { a: 1 } } });
    expect(response.candidates?.[0]?.finishReason).toBe('STOP');
    expect(readContentUsage(whole)?.usage).toMatchObject({
      input: 97,
      cachedInput: 3,
      output: 20,
      reasoning: 2,
    });
  });
});
