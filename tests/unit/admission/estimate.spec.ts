import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobFacts } from '#lib/core/facts/job';
import type { Ask, InputWeight } from '#lib/core/families/family';
import { askedImages } from '#lib/core/families/images/media';
import { askedVideos } from '#lib/core/families/reading/video';
import type { Scan } from '#lib/core/families/scan';
import { estimateInput } from '#lib/core/metering/estimate-input';
import type { Price } from '#lib/core/metering/price-list';
import { estimate } from '#lib/gateway/admission/pure/estimate';
import type { Target } from '#lib/gateway/routing/pure/target';

const noWeight: InputWeight = { textBytes: 0, images: 0, audioVideoBytes: 0, fileBytes: 0, searchTools: 0 };

function askOf(
  part: {
    weight?: Partial<InputWeight>;
    body?: string;
  } & Partial<Pick<Ask, 'budget' | 'choices' | 'serviceTier' | 'media' | 'cache'>>,
): Ask {
  const ask = {
    operation: { family: 'chat', path: 'chat/completions', steps: 'generate', budgeted: true },
    ...(part.media ? { media: part.media } : {}),
    ...(part.cache ? { cache: part.cache } : {}),
    budget: part.budget ?? null,
    choices: part.choices ?? 1,
    serviceTier: part.serviceTier ?? null,
    weight: { ...noWeight, ...part.weight },
    scan: { body: new TextEncoder().encode(part.body ?? ''), found: new Map() },
  };
  return partial<Ask>(ask);
}

function targetOf(
  price: Partial<Price>,
  model: { context?: number; most?: number; output?: string[] } = {},
): Target {
  return partial<Target>({
    model: {
      contextTokens: model.context ?? 100_000,
      maxOutputTokens: model.most ?? 50_000,
      output: model.output ?? ['text'],
    },
    pool: [],
    price: { id: 'p', effectiveAtMs: 0, price: { base: {}, tiers: [], serviceTiers: {}, ...price } },
  });
}

const terms = { keyMaximum: null, strict: false, previousTokens: 0 };

/** Only the parts that an estimate reads are made. */
function partial<Whole>(part: unknown): Whole {
  return part as Whole;
}

const dollar = 1_000_000_000n;
const plain = targetOf({ base: { input: 2n * dollar, output: 8n * dollar } });

describe('the hold of a call (contract: money/hold)', () => {
  it.each([
    [null, 4, 100, 50_000, 100],
    [null, 3, 100, 50_000, 99],
    [null, 1, 100, 50, 50],
    [null, 2, 100, 0, 100],
    [null, 2, null, 0, 16_384],
    [40, 3, 200, 50_000, 120],
  ])(
    'with a budget of %s, %i choices, a key’s maximum of %s and a model’s of %i is for %i tokens of output',
    (budget, choices, most, model, tokens) => {
      const target = targetOf({ base: { output: dollar } }, { most: model });
      for (const strict of model === 0 ? [false, true] : [false]) {
        expect(
          estimate(askOf({ budget, choices }), [target], { ...terms, keyMaximum: most, strict }).outputTokens,
        ).toBe(tokens);
      }
    },
  );

  it('is the text ÷ 3 at the input rate and the budget at the output rate, rounded up once', () => {
    const made = estimate(askOf({ weight: { textBytes: 3_001 }, budget: 100 }), [plain], terms);
    expect(made).toEqual({ holdNano: 2_802_000n, inputTokens: 1_001, outputTokens: 100, tokens: 1_101 });
    const odd = targetOf({ base: { input: 1n, output: 1n } });
    expect(estimate(askOf({ weight: { textBytes: 3 }, budget: 1 }), [odd], terms).holdNano).toBe(1n);
  });

  it('takes the highest rate of each kind among the targets', () => {
    const other = targetOf({ base: { input: 5n * dollar, output: dollar } });
    const { holdNano } = estimate(askOf({ weight: { textBytes: 3 }, budget: 1 }), [plain, other], terms);
    expect(holdNano).toBe(5_000n + 8_000n);
  });

  it('counts the rates of nested models among them', () => {
    const price = {
      id: 'n',
      effectiveAtMs: 0,
      price: { base: { input: dollar, output: 9n * dollar }, tiers: [], serviceTiers: {} },
    };
    const nested = new Map([['v/other', { upstreamModel: 'other', price }]]);
    const asked = askOf({ weight: { textBytes: 3 }, budget: 1 });
    expect(estimate(asked, [{ ...plain, nested }], terms).holdNano).toBe(2_000n + 9_000n);
  });

  it.each([
    ['the budget of the request', 700, 500, 700],
    ['else the maximum of the key', null, 500, 500],
    ["else the key's, as far as the model goes", null, 90_000, 50_000],
    ['else 8,192', null, null, 8_192],
  ])('counts %s', (_name, budget, keyMaximum, expected) => {
    expect(estimate(askOf({ budget }), [plain], { ...terms, keyMaximum }).outputTokens).toBe(expected);
  });

  it('counts a small model only up to its maximum, and every choice', () => {
    const small = targetOf({}, { most: 4_096 });
    expect(estimate(askOf({ choices: 3 }), [small], terms).outputTokens).toBe(12_288);
    expect(estimate(askOf({ choices: 3, budget: 0 }), [small], terms).outputTokens).toBe(0);
  });

  it('counts media by kind, the previous call and search tools', () => {
    const weight = { textBytes: 30, images: 2, audioVideoBytes: 4_001, fileBytes: 600, searchTools: 1 };
    const { inputTokens } = estimate(askOf({ weight }), [plain], { ...terms, previousTokens: 77 });
    expect(inputTokens).toBe(10 + 5_000 + 11 + 200 + 77 + 10_000);
    const file = { fileBytes: 9_000_000 };
    expect(estimate(askOf({ weight: file }), [plain], terms).inputTokens).toBe(100_000);
  });

  it('in strict workspaces, a hold counts each byte as a token, up to the context, and all of the model’s output', () => {
    const made = estimate(askOf({ weight: { textBytes: 3_000 } }), [plain], { ...terms, strict: true });
    expect(made).toMatchObject({ inputTokens: 3_000, outputTokens: 50_000 });
    const long = estimate(askOf({ weight: { textBytes: 3_000_000 } }), [plain], { ...terms, strict: true });
    expect(long.inputTokens).toBe(100_000);
  });

  it('reserves a context tier once the estimate reaches it', () => {
    const tiered = targetOf({
      base: { input: dollar, output: dollar },
      tiers: [{ aboveInputTokens: 1_000, rates: { input: 3n * dollar, output: 4n * dollar } }],
    });
    const hold = (textBytes: number) =>
      estimate(askOf({ weight: { textBytes }, budget: 10 }), [tiered], terms).holdNano;
    expect(hold(3_000)).toBe(1_010_000n);
    expect(hold(3_003)).toBe(3_003_000n + 40_000n);
  });

  it('reserves the dearer of the service tier that is asked for and the base', () => {
    const tiers = targetOf({
      base: { input: dollar, output: dollar },
      serviceTiers: { priority: { output: 9n * dollar }, flex: { output: dollar / 2n } },
    });
    const hold = (serviceTier: string | null) =>
      estimate(askOf({ budget: 1_000, serviceTier }), [tiers], terms).holdNano;
    expect(hold(null)).toBe(1_000_000n);
    expect(hold('flex')).toBe(1_000_000n);
    expect(hold('priority')).toBe(9_000_000n);
    expect(hold('auto')).toBe(1_000_000n);
  });

  it('reserves the surcharge of cache writes when the request declares them', () => {
    const caching = targetOf({ base: { input: dollar, cacheWrite1h: 2n * dollar } });
    const weight = { textBytes: 3_000 };
    const hold = (body: string) => estimate(askOf({ weight, body, budget: 0 }), [caching], terms).holdNano;
    expect(hold('{}')).toBe(1_000_000n);
    expect(hold('{"cache_control":{"type":"ephemeral"}}')).toBe(2_000_000n);
  });

  it('a new context cache with a file of the provider is as long as the context (contract: batches/cache-charge)', () => {
    const storing = targetOf({ base: { input: dollar, cacheStorage: dollar } }, { context: 50_000 });
    const cache = { tokens: null, seconds: 7_200, paidMs: null };
    const hold = (body: string, strict: boolean) => {
      const ask = askOf({ weight: { textBytes: 300 }, body, budget: 0, cache });
      return estimate(ask, [storing], { ...terms, strict }).holdNano;
    };
    for (const field of ['fileUri', 'file_uri'])
      for (const strict of [true, false])
        expect(hold(`{"${field}":"files/a"}`, strict)).toBe(50_000n * 1_000n * 3n);
    expect(hold('{"text":"a"}', false)).toBe(100n * 1_000n * 3n);
  });

  it('takes images and videos from their own parameters', () => {
    const images = targetOf({ base: { image: { '1024x1024/low': 11n * dollar, default: 40n * dollar } } });
    const imageHold = (asked: Record<string, unknown>) => {
      const found = new Map(Object.entries(asked).map(([path, value]) => [path, { value }]));
      const media = askedImages({ scan: partial<Scan>({ found }), choices: 2 });
      return estimate(askOf({ choices: 2, media }), [images], terms).holdNano;
    };
    expect(imageHold({ size: '1024x1024', quality: 'low' })).toBe(22_000n);
    expect(imageHold({})).toBe(80_000n);
  });

  it('takes videos by their length, their number and the entry of their size', () => {
    const videoSecond = { '720p': 100_000n * dollar, '4k': 300_000n * dollar, default: 100_000n * dollar };
    const one = targetOf({ base: { videoSecond: 100_000n * dollar } });
    const mapped = targetOf({ base: { videoSecond } });
    const hold = (job: JobFacts, { choices = 1, remix = false, target = mapped } = {}) =>
      estimate(askOf({ choices, media: askedVideos(job, choices, remix) }), [target], terms);
    expect(hold({ seconds: 8 }, { target: one })).toMatchObject({ holdNano: 800_000_000n, outputTokens: 0 });
    expect(hold({ seconds: 8, size: '720p' }).holdNano).toBe(800_000_000n);
    // What the request leaves open is held at the most that it may become.
    expect(hold({ seconds: 8 }).holdNano).toBe(2_400_000_000n);
    expect(hold({ size: '720p' }).holdNano).toBe(1_200_000_000n);
    expect(hold({ size: '720p' }, { remix: true }).holdNano).toBe(2_000_000_000n);
    expect(hold({ seconds: 8, size: '4k' }, { choices: 3 }).holdNano).toBe(7_200_000_000n);
  });

  it('is nothing without targets', () => {
    expect(estimate(askOf({ weight: { textBytes: 90 } }), [], terms).holdNano).toBe(0n);
  });

  it('never falls when a request grows', () => {
    const size = fc.integer({ min: 0, max: 1_000_000 });
    fc.assert(
      fc.property(size, size, size, size, (textBytes, more, budget, extra) => {
        const less = estimate(askOf({ weight: { textBytes }, budget }), [plain], terms);
        const larger = askOf({ weight: { textBytes: textBytes + more }, budget: budget + extra });
        expect(estimate(larger, [plain], terms).holdNano).toBeGreaterThanOrEqual(less.holdNano);
      }),
    );
  });
});

describe('input that no provider reported (contract: money/estimate)', () => {
  it('is the text ÷ 4 and media as in the hold', () => {
    expect(estimateInput({ ...noWeight, textBytes: 401, images: 1, audioVideoBytes: 400 })).toBe(
      101 + 2_500 + 1,
    );
  });
});
