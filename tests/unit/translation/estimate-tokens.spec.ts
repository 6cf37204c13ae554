import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { objectIn, parseJson } from '#lib/core/families/reading/json';
import { estimateTokens, textTokens } from '#lib/core/translation/estimate-tokens';
import { folder, type Recording, recordings } from '#tests/unit/relay/streams';
import { families, tokensIn } from '#tests/unit/translation/recorded';

const bytesOf = (body: object) => Buffer.from(JSON.stringify(body));
const weightOf = (bytes: Uint8Array, images = 0) => ({
  textBytes: bytes.length,
  images,
  audioVideoBytes: 0,
  fileBytes: 0,
  searchTools: 0,
});
const estimate = (body: object, maker = 'openai') =>
  estimateTokens('messages', bytesOf(body), weightOf(bytesOf(body)), maker);
const asks = (content: unknown) => ({ model: 'm', messages: [{ role: 'user', content }] });

describe('tokens of a text', () => {
  it.each([
    // Counted with o200k_base.
    ['English', 'The quick brown fox jumps over the lazy dog, and then it runs away into the forest.', 19],
    ['code', 'export function add(a: number, b: number): number {\n  return a + b;\n}\n', 20],
    ['German', 'Die Abrechnung erfolgt monatlich nach der tatsächlichen Nutzung der Schnittstelle.', 15],
    ['Chinese', '网关按照每个请求的实际用量计费，并记录每次调用。', 18],
    ['Japanese', 'ゲートウェイはリクエストごとに使用量を記録し、料金を計算します。', 25],
    ['Russian', 'Шлюз учитывает каждый запрос и рассчитывает его стоимость.', 13],
  ])('are close to a tokenizer: %s', (_script, text, tokens) => {
    expect(textTokens(text) / tokens).toBeGreaterThan(0.7);
    expect(textTokens(text) / tokens).toBeLessThan(1.4);
  });

  it('grow with the length of the text only, whatever it consists of', () => {
    for (const unit of ['A', 'a', '1', ' ', '\n', '. ', 'é', '漢', '👍', '\u0000']) {
      expect(textTokens(unit.repeat(20_000))).toBeCloseTo(textTokens(unit.repeat(10_000)) * 2, -2);
    }
  });
});

describe('tokens of a request (contract: translation/counting)', () => {
  const plain = estimate(asks('Hello there'));

  it('include tools, results and the system prompt', () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string', description: 'Name of a city' } },
    };
    const tools = [{ name: 'weather', description: 'Current weather', input_schema: schema }];
    const call = { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Berlin' } };
    const result = {
      type: 'tool_result',
      tool_use_id: 'c1',
      content: 'Sunny, with a light wind from the west',
    };
    const turns = [
      ...asks('Hello there').messages,
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ];
    const withTools = estimate({ ...asks('Hello there'), tools });
    expect(withTools).toBeGreaterThan(plain + 20);
    expect(estimate({ model: 'm', messages: turns, tools })).toBeGreaterThan(withTools + 15);
    expect(estimate({ ...asks('Hello there'), system: 'Answer in one short sentence.' })).toBeGreaterThan(
      plain + 5,
    );
  });

  it('have one figure for each picture, however large it is', () => {
    const picture = (length: number) => ({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(length) },
    });
    const text = { type: 'text', text: 'Hello there' };
    const one = estimate(asks([text, picture(400)]));
    expect(one - plain).toBe(400);
    expect(estimate(asks([text, picture(80_000)]))).toBe(one);
    expect(estimate(asks([text, picture(400), picture(400)]))).toBe(one + 400);
  });

  it('depend on the maker of the model', () => {
    const text = 'The gateway counts each request and calculates its cost. '.repeat(50);
    expect(estimate(asks(text), 'anthropic') / estimate(asks(text))).toBeCloseTo(1.2, 1);
  });

  it('are read in the protocol of the client, also inside a count of generate-content', () => {
    const inner = { contents: [{ role: 'user', parts: [{ text: 'Hello there' }] }] };
    const count = (body: object) =>
      estimateTokens('generate-content', bytesOf(body), weightOf(bytesOf(body)), 'google');
    expect(count(inner)).toBe(3);
    expect(count({ generateContentRequest: { model: 'models/m', ...inner } })).toBe(3);
    expect(count({ generate_content_request: inner })).toBe(3);
  });

  it('are those of its size if it is longer than 256 KiB, or cannot be read', () => {
    const long = bytesOf(asks('word '.repeat(60_000)));
    expect(estimateTokens('messages', long, weightOf(long, 2), 'openai')).toBe(
      Math.ceil(long.length / 4) + 800 + 3,
    );
    const odd = { model: 'm', messages: [{ role: 'user', content: [{ type: 'container_upload' }] }] };
    expect(estimate(odd)).toBe(Math.ceil(bytesOf(odd).length / 4) + 3);
  });
});

/** What is not in the request: results of tools that the provider runs, and what it has stored. */
const readsMore =
  /web_search|google_?search|codeExecution|fileSearch|urlContext|advisor|cachedContent|previous_response_id|gs:\/\//i;

describe('tokens of recorded requests (contract: translation/counting)', () => {
  const samples = (['chat', 'responses', 'messages', 'generate-content'] as const).flatMap((protocol) =>
    recordings(families[protocol]).flatMap((recording) => {
      const file = new URL(recording.file.replace(/\.resp\.\w+$/, '.req.json'), folder);
      const counted = countedIn(recording);
      if (!file.pathname.endsWith('.req.json') || !existsSync(file) || counted === 0) return [];
      const bytes = readFileSync(file);
      if (readsMore.test(bytes.toString())) return [];
      const { model } = objectIn(parseJson(bytes.toString())) ?? {};
      const estimated = estimateTokens(
        protocol,
        bytes,
        weightOf(bytes),
        makerOf(`${model ?? recording.path}`),
      );
      return [{ counted, error: Math.abs(estimated / counted - 1) }];
    }),
  );

  it.skipIf(samples.length === 0)(
    'are off by less than a fifth in the median, and by 80% in nine of ten',
    () => {
      const all = errorsOf(samples);
      expect(all.size).toBeGreaterThan(80);
      expect(all.median).toBeLessThan(0.18);
      expect(all.p90).toBeLessThan(0.8);
      // The provider did not count the sound among these tokens.
      expect(all.worst).toBeLessThan(22);
      const longer = errorsOf(samples.filter(({ counted }) => counted >= 100));
      expect(longer.size).toBeGreaterThan(30);
      expect(longer.median).toBeLessThan(0.2);
      expect(longer.p90).toBeLessThan(0.75);
      expect(longer.worst).toBeLessThan(3);
    },
  );
});

function countedIn(recording: Recording): number {
  const { input_tokens, totalTokens } = objectIn(parseJson(recording.body.toString())) ?? {};
  const count = input_tokens ?? totalTokens;
  return recording.norm ? tokensIn(recording).input : typeof count === 'number' ? count : 0;
}

function makerOf(model: string): string {
  if (model.includes('claude')) return 'anthropic';
  if (model.includes('gemini')) return 'google';
  return /(^|\/)(gpt-|o\d)/.test(model) ? 'openai' : 'other';
}

function errorsOf(samples: readonly { readonly error: number }[]) {
  const errors = samples.map(({ error }) => error).sort((a, b) => a - b);
  const at = (share: number) => errors[Math.ceil(errors.length * share) - 1] ?? 0;
  return { size: errors.length, median: at(0.5), p90: at(0.9), worst: at(1) };
}
