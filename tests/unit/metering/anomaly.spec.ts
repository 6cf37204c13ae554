import { describe, expect, it } from 'vitest';
import { boundUsage, meteredUsage, type UsageBounds } from '#lib/core/metering/anomaly';
import { price } from '#lib/core/metering/price';
import type { Price } from '#lib/core/metering/price-list';
import { countedTokens, totalUsage, type Usage, type UsageReport, usageOf } from '#lib/core/metering/usage';

const model: UsageBounds = { contextTokens: 1_000, maxOutputTokens: 100, output: ['text'] };
const dollar = 1_000_000_000n;
const list: Price = {
  base: { input: dollar, cachedInput: dollar / 10n, output: 10n * dollar },
  tiers: [],
  serviceTiers: {},
};

function report(usage: Partial<Usage>, rest: Partial<UsageReport> = {}): UsageReport {
  return { usage: usageOf(usage), serviceTier: null, nested: [], flags: [], ...rest };
}

function bounded(said: UsageReport, choices = 1, tools = false, of = model) {
  const { report: kept, flags } = boundUsage(said, of, choices, tools);
  return { usage: kept.usage, flags };
}

describe('usage beyond what the model can do (contract: money/usage-bounds)', () => {
  it('usage is limited to the context for input and to the maximum × n for output, each plus a tenth', () => {
    const said = report({ input: 1e12, output: 1e12 });
    expect(bounded(said, 2)).toEqual({
      usage: usageOf({ input: 1_100, output: 220 }),
      flags: ['usage_anomaly'],
    });
    expect(said.usage).toEqual(usageOf({ input: 1e12, output: 1e12 }));
  });

  it('usage up to the limits is charged as reported', () => {
    const said = report({ input: 600, cachedInput: 500, output: 110, reasoning: 110 });
    expect(boundUsage(said, model, 1, false)).toEqual({ report: said, flags: [] });
  });

  it.each(['embedding', 'scores'])(
    'input of a model of %ss is limited to 2,048 contexts (contract: families/input-only)',
    (kind) => {
      const many = { contextTokens: 1_000, maxOutputTokens: 0, output: [kind] };
      const limit = 2_048 * 1_100;
      expect(bounded(report({ input: limit }), 1, false, many)).toEqual({
        usage: usageOf({ input: limit }),
        flags: [],
      });
      expect(bounded(report({ input: limit + 1 }), 1, false, many).usage.input).toBe(limit);
    },
  );

  it('all input counts together, and the largest figure is reduced', () => {
    expect(bounded(report({ input: 5_000, cachedInput: 400, cacheWrite5m: 100 })).usage).toEqual(
      usageOf({ input: 600, cachedInput: 400, cacheWrite5m: 100 }),
    );
  });

  it('parts of usage never exceed their parent', () => {
    const said = report({ input: 5_000, imageInput: 4_000, output: 500, reasoning: 450 });
    expect(bounded(said).usage).toEqual(
      usageOf({ input: 1_100, imageInput: 1_100, output: 110, reasoning: 110 }),
    );
  });

  it.each([
    ['the request declares tools that the provider runs', true, {}],
    ['the answer lists iterations', false, { iterated: true }],
  ])('is ten times that where %s', (_why, tools, rest) => {
    const said = report({ input: 1e9, output: 1e9 }, rest);
    expect(bounded(said, 1, tools).usage).toEqual(usageOf({ input: 11_000, output: 1_100 }));
  });

  it('usage of a nested model is limited to ten times the same', () => {
    const nested = [{ upstreamModel: 'x', usage: usageOf({ output: 1e9 }) }];
    const kept = boundUsage(report({ input: 1 }, { nested }), model, 1, false);
    expect(kept.report.nested[0]?.usage.output).toBe(1_100);
    expect(kept.flags).toEqual(['usage_anomaly']);
  });

  it('usage has no limit if the catalogue has no figure', () => {
    const unknown = { contextTokens: 0, maxOutputTokens: 0, output: ['text'] };
    const said = report({ input: 1e12, output: 1e12, images: 1e6 });
    expect(boundUsage(said, unknown, 1, false)).toEqual({ report: said, flags: [] });
  });

  it('usage of a model that only draws is not limited by the context of its prompt', () => {
    const drawing = { contextTokens: 1_000, maxOutputTokens: 0, output: ['image'] };
    expect(bounded(report({ input: 9_000, output: 8_000 }), 1, false, drawing).flags).toEqual([]);
    expect(bounded(report({ images: 1e6 }), 1, false, drawing).usage.images).toBe(10_000);
  });

  it('usage figures that are negative or not whole count as 0', () => {
    const said = report({ input: -5, output: 1.5, reasoning: Number.NaN });
    expect(bounded(said)).toEqual({ usage: usageOf({}), flags: ['usage_negative'] });
  });
});

describe('what counts beyond the call log (contract: money/usage-bounds)', () => {
  const charged = (said: UsageReport) => {
    const kept = boundUsage(said, model, 1, false);
    const { lines } = price(kept.report, list, new Map());
    return meteredUsage({ usage: totalUsage(said), lines, flags: kept.flags });
  };

  it('metered usage is the usage as reported', () => {
    const said = report({ input: 7, cachedInput: 2, output: 5, reasoning: 3 });
    expect(charged(said)).toBe(said.usage);
  });

  it('metered usage is what was charged if a figure was reduced, nested models included', () => {
    const nested = [{ upstreamModel: 'x', usage: usageOf({ input: 10, output: 20 }) }];
    const metered = charged(report({ input: 1e12, cachedInput: 100, output: 50, reasoning: 40 }, { nested }));
    expect(metered).toEqual(usageOf({ input: 1_010, cachedInput: 100, output: 70, reasoning: 40 }));
    expect(countedTokens(metered)).toBe(1_080);
  });
});
