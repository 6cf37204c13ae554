import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import type { Ask, Family } from '#lib/core/families/family';
import { families } from '#lib/core/families/index';
import { scan, type Upload } from '#lib/core/families/scan';
import { Tap } from '#lib/core/relay/tap';
import { createMeter } from '#tests/unit/metering/make';
import { cuts, lineEnds, recordings, withLineEnd } from '#tests/unit/relay/streams';
import { wave } from '#tools/sandbox/audio/sound';
import { type Sandbox, startSandbox } from '#tools/sandbox/server';

/** One streamed operation of a family, as its clients ask for it. */
interface Streamed {
  readonly family: Family['id'];
  readonly operation: string;
  /** At the simulated provider. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** It is sent as a form, with this as its part `file`. */
  readonly file?: Buffer;
  /** Families of the recordings that are answers to it. */
  readonly recorded: readonly string[];
}

const prompt = 'Grüße 👋 [[echo?tokens=5&reasoning=3]]';
const messages = [{ role: 'user', content: prompt }];
const toolMessages = [{ role: 'user', content: 'Grüße 👋, use get_weather' }];
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

const streams: readonly Streamed[] = [
  {
    family: 'chat',
    operation: 'chat.create',
    path: '/chat/completions',
    body: { model: 'echo', stream: true, stream_options: { include_usage: true }, messages },
    recorded: ['chat', 'chat-compat'],
  },
  {
    family: 'chat',
    operation: 'chat.create',
    path: '/chat/completions',
    body: {
      model: 'reasoner',
      stream: true,
      messages: toolMessages,
      tools: [{ type: 'function', function: { name: 'get_weather', parameters } }],
    },
    recorded: [],
  },
  {
    family: 'responses',
    operation: 'responses.create',
    path: '/responses',
    body: { model: 'echo', stream: true, input: prompt },
    recorded: ['responses', 'responses-compat'],
  },
  {
    family: 'completions',
    operation: 'completions.create',
    path: '/completions',
    body: { model: 'echo', stream: true, stream_options: { include_usage: true }, n: 2, prompt },
    recorded: [],
  },
  {
    family: 'messages',
    operation: 'messages.create',
    path: '/messages',
    body: { model: 'echo', stream: true, max_tokens: 50, messages },
    recorded: ['messages'],
  },
  {
    family: 'messages',
    operation: 'messages.create',
    path: '/messages',
    body: {
      model: 'reasoner',
      stream: true,
      max_tokens: 50,
      messages: toolMessages,
      tools: [{ name: 'get_weather', input_schema: parameters }],
    },
    recorded: [],
  },
  {
    family: 'generate-content',
    operation: 'content.stream',
    path: '/models/reasoner:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: prompt }] }] },
    recorded: ['generateContent', 'generateContent-vertex'],
  },
  {
    family: 'images',
    operation: 'images.generate',
    path: '/images/generations',
    body: { model: 'picture', prompt: 'Grüße [[picture?bytes=80]]', stream: true, partial_images: 2 },
    recorded: ['images'],
  },
  {
    family: 'speech',
    operation: 'audio.speech',
    path: '/audio/speech',
    body: { model: 'speaker', input: 'Grüße [[speaker?ms=200]]', voice: 'alloy', stream_format: 'sse' },
    recorded: [],
  },
  {
    family: 'transcriptions',
    operation: 'audio.transcription',
    path: '/audio/transcriptions',
    body: { model: 'listener', stream: true, prompt: 'Grüße' },
    file: Buffer.concat([...wave(200, 'Grüße 👋, quiet sea')]),
    recorded: [],
  },
];

/** What the gateway reads of a request: what its answer is metered by. */
function readAsk({ family, operation: name, body, file }: Streamed): { family: Family; ask: Ask } {
  const found = families.find(({ id }) => id === family);
  const operation = found?.operations.find((one) => one.name === name);
  if (!found || !operation?.fields) throw new Error(`the ${family} family has no ${name}`);
  const scanned = scan(Buffer.from(JSON.stringify(body)), operation.fields);
  if ('fault' in scanned) throw new Error(scanned.fault);
  const asked = file ? { ...scanned, upload: uploadOf(file) } : scanned;
  const ask = found.readAsk({ operation, params: { model: 'vendor/name' }, scan: asked });
  if (isRefusal(ask)) throw new Error(ask.message);
  return { family: found, ask };
}

function uploadOf(file: Buffer): Upload {
  const files = [{ mediaType: null, bytes: file.length, field: 'file', start: 0 }];
  return { bytes: file.length, textBytes: 0, files, audioMs: 200, read: async function* () {} };
}

/** The request as it is sent. */
function requestOf({ body, file }: Streamed): RequestInit {
  const headers = { 'anthropic-version': '2023-06-01' };
  if (!file) {
    const json = { ...headers, 'content-type': 'application/json' };
    return { method: 'POST', headers: json, body: JSON.stringify(body) };
  }
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.append(name, String(value));
  form.append('file', new Blob([Uint8Array.from(file)]), 'a.wav');
  return { method: 'POST', headers, body: form };
}

/** What a client gets of a stream that comes in these pieces, and what is known of it at its end. */
function relay(
  { family, ask }: ReturnType<typeof readAsk>,
  pieces: readonly Uint8Array[],
  removeUsage: boolean,
) {
  const meter = createMeter(family, ask, { contentType: 'text/event-stream' });
  const tap = new Tap({ removeUsage, mask: null });
  const passed = pieces.flatMap((piece) => {
    meter.push(piece);
    return [...tap.push(piece)];
  });
  meter.end();
  const bytes = Buffer.concat([...passed, ...tap.end()]);
  const known = {
    report: meter.report(),
    outputBytes: meter.outputBytes,
    state: meter.state(),
    events: meter.events,
    flags: meter.flags,
    shown: meter.shown,
  };
  return { bytes, known };
}

describe('a stream is relayed and metered in the same way wherever it is cut (contract: families/usage-readers)', () => {
  let provider: Sandbox;
  beforeAll(async () => {
    provider = await startSandbox();
  });
  afterAll(() => provider.close());

  it('in every family that streams', () => {
    const withStreams = families.filter(({ operations }) =>
      operations.some(
        ({ fields, name }) =>
          fields && ('stream' in fields || 'stream_format' in fields || name === 'content.stream'),
      ),
    );
    expect([...new Set(streams.map(({ family }) => family))].sort()).toEqual(
      withStreams.map(({ id }) => id).sort(),
    );
  });

  describe.each(streams)('$operation of $body.model', (streamed) => {
    it.each(lineEnds)('with %s', async (_name, lineEnd) => {
      const answer = await fetch(`${provider.url}${streamed.path}`, requestOf(streamed));
      const text = await answer.text();
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        expect.stringContaining('text/event-stream'),
      ]);
      const own = readAsk(streamed);
      const stream = withLineEnd(text, lineEnd);
      const whole = relay(own, [stream], false);
      const shortened = relay(own, [stream], true);
      expect(whole.known).toEqual(relay(own, [Buffer.from(text)], false).known);
      expect(whole.known).toMatchObject({ state: 'complete', flags: [] });
      expect(whole.known.events).toBeGreaterThan(1);
      for (const pieces of cuts(stream, 1)) {
        const got = relay(own, pieces, false);
        if (!got.bytes.equals(stream)) expect(got.bytes.toString()).toBe(stream.toString());
        if (!isDeepStrictEqual(got.known, whole.known)) expect(got.known).toEqual(whole.known);
        if (streamed.family !== 'chat') continue;
        const less = relay(own, pieces, true);
        if (!less.bytes.equals(shortened.bytes)) expect(String(less.bytes)).toBe(String(shortened.bytes));
      }
    });
  });

  const recorded = streams.flatMap((streamed) =>
    recordings(streamed.recorded)
      .filter(({ stream, body }) => stream && !/^\s*\[/.test(body.toString('latin1', 0, 20)))
      .map(({ file, body }) => ({ streamed, file, body })),
  );
  it.skipIf(recorded.length === 0).each(recorded)('as recorded: $file', ({ streamed, body }) => {
    const own = readAsk(streamed);
    const whole = relay(own, [body], false);
    for (const pieces of cuts(body, Math.max(1, Math.floor(body.length / 50)))) {
      const got = relay(own, pieces, false);
      expect(got.bytes.equals(body)).toBe(true);
      expect(got.known).toEqual(whole.known);
    }
  });
});
