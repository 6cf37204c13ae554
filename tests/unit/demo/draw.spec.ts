import { describe, expect, it } from 'vitest';
import { readCatalogue } from '#lib/control/catalogue/files';
import type { Catalogue, ModelFacts } from '#lib/core/facts/snapshot';
import { readFilePrice } from '#lib/core/schemas/price';
import { booksOf, settledMs } from '#tools/demo/books';
import { cast } from '#tools/demo/cast';
import { drawCalls } from '#tools/demo/draw';

const untilMs = Date.UTC(2026, 10, 22, 17, 30);
const days = 18;
const catalogue = await shippedCatalogue();
const stage = {
  catalogue,
  workspaceId: 'w',
  timeZone: 'Asia/Kathmandu',
  untilMs,
  fromMs: untilMs - days * 86_400_000,
  scale: 1,
};
const drawAll = () => cast.flatMap((app, at) => drawCalls(app, { ...stage, keyId: `k${at}`, seed: 7 + at }));

/** As the database would give it. */
async function shippedCatalogue(): Promise<Catalogue> {
  const { providers, models } = await readCatalogue('catalogue');
  const facts = new Map(
    providers.map(({ id, name }) => [
      id,
      {
        id,
        name,
        families: new Map(),
        credentials: [],
        withdrawn: [],
        credentialEnv: null,
        credentialHeaders: new Map(),
        onDisconnect: 'drain' as const,
        pricesFrom: null,
        stores: new Set<never>(),
      },
    ]),
  );
  const all = models.map((model): [string, ModelFacts] => [
    model.id,
    {
      ...model,
      aliases: [],
      createdAtMs: 0,
      released: null,
      reasoning: false,
      offers: model.offers.flatMap((offer) => {
        const provider = facts.get(offer.provider);
        const price = offer.price ? { id: 'p', effectiveAtMs: 0, price: readFilePrice(offer.price) } : null;
        if (!provider) return [];
        const { upstreamModel } = offer;
        const families = new Set(offer.families);
        return [
          {
            id: `${model.id} ${offer.provider}`,
            modelId: model.id,
            provider,
            upstreamModel,
            families,
            price,
            outputBudgetField: null,
            streamUsage: null,
            streamEnd: null,
            denyBetas: [],
            servedUntilMs: null,
            abilities: {},
            lacks: [],
            unserved: new Set(),
          },
        ];
      }),
    },
  ]);
  return { models: new Map(all), providers: facts };
}

describe('the calls of the demo (contract: operations/demo)', () => {
  const calls = drawAll();

  it('are the same for the same seed and end', () => {
    expect(drawAll()).toEqual(calls);
  });

  it('have ids that contain their time, and are settled before the end', () => {
    expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
    for (const call of calls) {
      expect(Number.parseInt(call.id.replaceAll('-', '').slice(0, 12), 16)).toBe(call.atMs);
      expect(settledMs(call)).toBeLessThan(untilMs);
    }
  });

  it('come from every application, from several families, with fallbacks, refusals and failures', () => {
    expect(new Set(calls.map(({ keyId }) => keyId)).size).toBe(
      cast.filter(({ untilDay = 0 }) => untilDay < days).length,
    );
    expect(new Set(calls.map(({ family }) => family)).size).toBe(5);
    expect(calls.some(({ attempts, status }) => attempts.length > 1 && status === 200)).toBe(true);
    for (const code of ['quota_exceeded', 'api_key_rpm_exceeded', 'model_not_allowed']) {
      expect(calls.some(({ errorCode, costNano }) => errorCode === code && costNano === 0n)).toBe(true);
    }
  });

  it('are fewer at night and at weekends if people make them', () => {
    const office = calls.filter(({ keyId }) => keyId === 'k1');
    const local = office.map(({ atMs }) => new Date(atMs + 345 * 60_000));
    const ofDay = (one: Date) => one.getUTCDay() % 6 !== 0;
    expect(local.filter(ofDay).length).toBeGreaterThan(5 * local.filter((one) => !ofDay(one)).length);
    expect(local.filter((one) => one.getUTCHours() < 5).length).toBeLessThan(local.length / 20);
  });
});

describe('the books of the demo', () => {
  const calls = drawAll();
  const books = booksOf(calls, untilMs - days * 86_400_000, untilMs);
  const lines = books.flatMap((day) => day.lines);

  it('contain every call once, on the day on which it is settled', () => {
    expect(books.flatMap((day) => day.calls).length).toBe(calls.length);
    for (const day of books) {
      expect(
        new Set(day.calls.map((call) => new Date(settledMs(call)).toISOString().slice(0, 10))).size,
      ).toBe(1);
    }
  });

  it('post what the calls cost, and never let the balance fall below zero', () => {
    const spent = calls.reduce((sum, { costNano }) => sum + costNano, 0n);
    const usage = lines.filter(({ kind }) => kind === 'usage');
    expect(usage.reduce((sum, { amountNano }) => sum - amountNano, 0n)).toBe(spent);
    let balance = 0n;
    for (const { amountNano, atMs } of lines) {
      balance += amountNano;
      expect(balance).toBeGreaterThan(0n);
      expect(atMs).toBeLessThanOrEqual(untilMs);
    }
  });
});
