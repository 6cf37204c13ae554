import { describe, expect, it } from 'vitest';
import { priceText } from '#lib/control/price-tables/pure/decimal';
import { mostTableBytes, readTable } from '#lib/control/price-tables/pure/read-table';
import { litellm, modelsDev } from '#tests/unit/control/price-tables/tables';

const read = (table: object) => readTable(JSON.stringify(table));

describe('a price table that is read (contract: control-plane/price-tables)', () => {
  it('of models.dev: rates, context tiers, sizes, dates, and its unknown fields by name', () => {
    const table = read({
      ...modelsDev({
        large: {
          family: 'big',
          reasoning: true,
          cost: {
            input: 1.25,
            output: 10,
            cache_read: 0.125,
            cache_write: 1.5625,
            input_audio: 3,
            tiers: [{ input: 2.5, output: 15, tier: { type: 'context', size: 200_000 } }],
            per_minute: 4,
          },
          mood: 'good',
        },
        older: {
          cost: { input: 2, output: 4, context_over_200k: { input: 3, output: 6 } },
          status: 'deprecated',
        },
        'text-embedding-9': { cost: { input: 0.02, output: 0 } },
      }),
      ...modelsDev({ x: { cost: { input: 1, output: 1 } } }, 'somebody-else'),
    });
    expect(table).toMatchObject({ id: 'models.dev', others: 1 });
    expect(table.unknown.map(({ field, models, example }) => [field, models, example])).toEqual([
      ['cost.per_minute', 1, 'large'],
      ['mood', 1, 'large'],
    ]);
    expect(table.entries).toMatchObject([
      {
        provider: 'openai',
        upstreamModel: 'large',
        name: 'LARGE',
        line: 'big',
        kind: 'text',
        contextTokens: 400_000,
        maxOutputTokens: 32_000,
        input: ['text', 'image'],
        reasoning: true,
        released: '2026-03-01',
        deprecated: false,
        unread: ['cost.per_minute'],
        price: {
          input: '1.25',
          output: '10',
          cachedInput: '0.125',
          cacheWrite5m: '1.5625',
          audioInput: '3',
          tiers: [{ aboveInputTokens: 200_000, input: '2.5', output: '15' }],
        },
      },
      { deprecated: true, price: { tiers: [{ aboveInputTokens: 200_000, input: '3', output: '6' }] } },
      { kind: 'embeddings', price: { input: '0.02', output: '0' } },
    ]);
  });

  it('of LiteLLM: prices of one token, service tiers with their own context tiers, units of a mode', () => {
    const table = read(
      litellm({
        large: {
          input_cost_per_token: 1.25e-6,
          output_cost_per_token: 1e-5,
          cache_read_input_token_cost: 1.25e-7,
          cache_creation_input_token_cost_above_1hr: 2.5e-6,
          input_cost_per_token_above_272k_tokens: 2.5e-6,
          input_cost_per_token_flex: 6.25e-7,
          output_cost_per_token_flex: 5e-6,
          input_cost_per_token_above_272k_tokens_flex: 1.25e-6,
          input_cost_per_token_batches: 1,
          search_context_cost_per_query: { search_context_size_low: 0.01, search_context_size_high: 0.01 },
          deprecation_date: '2027-02-01',
          supports_vision: true,
          supports_anything_new: true,
          shoe_size: 43,
        },
        'xai/fast': { litellm_provider: 'xai', input_cost_per_token: 1e-6, cost_per_smile: 2 },
        'xai/odd': { litellm_provider: 'xai', input_cost_per_token: -1, output_cost_per_token: 'free' },
        listen: { mode: 'audio_transcription', input_cost_per_second: 0.0001, output_cost_per_second: 0 },
        other: { litellm_provider: 'nobody', input_cost_per_token: 1 },
      }),
    );
    expect(table).toMatchObject({ id: 'litellm', others: 1 });
    expect(table.unknown.map(({ field, example }) => [field, example])).toEqual([
      ['cost_per_smile', 'fast'],
      ['shoe_size', 'large'],
    ]);
    expect(table.entries).toMatchObject([
      {
        provider: 'openai',
        upstreamModel: 'large',
        retires: '2027-02-01',
        input: ['text', 'image'],
        unread: [],
        price: {
          input: '1.25',
          output: '10',
          cachedInput: '0.125',
          cacheWrite1h: '2.5',
          webSearch: '0.01',
          tiers: [{ aboveInputTokens: 272_000, input: '2.5' }],
          serviceTiers: {
            flex: { input: '0.625', output: '5', tiers: [{ aboveInputTokens: 272_000, input: '1.25' }] },
          },
        },
      },
      { provider: 'xai', upstreamModel: 'fast', price: { input: '1' }, unread: ['cost_per_smile'] },
      { upstreamModel: 'odd', price: null, unread: ['input_cost_per_token', 'output_cost_per_token'] },
      { kind: 'other', price: { audioHour: '0.36' } },
    ]);
  });

  it('keeps one entry of a model that is listed twice, and says that the prices differ', () => {
    const rates = (input: number) => ({ litellm_provider: 'xai', input_cost_per_token: input });
    const { entries } = read(litellm({ 'xai/a': rates(1e-6), a: rates(2e-6) }));
    expect(entries).toMatchObject([
      { upstreamModel: 'a', price: { input: '1' }, unread: ['another price under a'] },
    ]);
  });

  it.each([
    ['nothing', '', 'is empty'],
    ['a web page', '<!doctype html>', 'is a web page'],
    [
      'half of a table',
      JSON.stringify(modelsDev({ a: { cost: { input: 1, output: 1 } } })).slice(0, -9),
      'not valid JSON',
    ],
    ['JSON of another kind', '{"data":[1,2,3]}', 'neither models.dev'],
    ['a list', '[]', 'neither models.dev'],
    ['a bare word', 'null', 'neither models.dev'],
    [
      'a table without prices',
      JSON.stringify(modelsDev({ a: { cost: { per_mile: 1 } } })),
      'no price of a known provider',
    ],
    ['too much', ' '.repeat(mostTableBytes + 1), 'larger than 16 MiB'],
  ])('%s is refused with the reason', (_, text, why) => {
    expect(() => readTable(text)).toThrow(why);
  });

  it('a stranger’s names cannot be members of every object, control terminals or grow without end', () => {
    const table = readTable(
      JSON.stringify(
        modelsDev({
          'plain\u202e': { cost: { input: 1, output: 1 } },
          ok: {
            cost: { input: 1, output: 1, '\u001b[31m': 1 },
            ...Object.fromEntries(Array.from({ length: 500 }, (__, at) => [`field${at}`, 1])),
          },
        }),
      ).replace('"ok":{', '"__proto__":{"id":"__proto__","cost":{"input":1,"output":1}},"ok":{'),
    );
    expect(table.entries.map(({ upstreamModel }) => upstreamModel)).toEqual(['__proto__', 'ok']);
    expect(table.unknown.length).toBe(200);
    expect(JSON.stringify(table.unknown)).not.toContain('\\u001b');
  });
});

describe('a number of a table as a price', () => {
  it.each([
    [1.5e-7, 6, '0.15'],
    [7.5e-8, 6, '0.075'],
    [0.0000021875, 6, '2.1875'],
    [1e-6, 6, '1'],
    [0.1 + 0.2, 0, '0.3'],
    [1 / 3e7, 6, '0.033333333'],
    [0, 6, '0'],
    [999_999_999, 0, '999999999'],
    [1e9, 0, null],
    [1e300, 6, null],
    [5e-324, 6, '0'],
    [-1, 0, null],
    [Number.NaN, 0, null],
    ['1', 0, null],
    [null, 0, null],
  ])('%s by 10^%s is %s', (value, shift, text) => {
    expect(priceText(value, shift)).toBe(text);
  });
});
