import { joinCatalogues } from '#lib/control/catalogue/files';
import type { Usage } from '#lib/core/metering/usage';
import { catalogueShape } from '#lib/core/schemas/catalogue';
import { readDocument } from '#lib/core/schemas/document';
import { applySet } from '#tests/support/provider/apply-set';
import type { Stack } from '#tests/support/stack';

/** What all recordings are asked of, and what a tool of theirs may call by itself. */
export const model = { slug: 'recorded/model', upstream: 'as-the-provider-names-it' };
export const nestedModel = { slug: 'recorded/nested', upstream: 'claude-opus-4-8' };

/** Dollars per million tokens or per piece: every class has its own, so that none passes for another. */
const usd = {
  input: 3,
  cachedInput: 0.3,
  cacheWrite5m: 3.75,
  cacheWrite1h: 6,
  output: 15,
  reasoning: 17,
  audioInput: 7,
  imageInput: 5,
  audioOutput: 23,
  imageOutput: 29,
  image: 0.011,
  webSearch: 0.01,
  videoSecond: 0.1,
} as const;

/** Of all prices, by the tier that an answer names. */
const tiers: Readonly<Record<string, number>> = { priority: 2, flex: 0.5 };

/** Which price each figure of a usage has, and which figure it is a part of. */
const figures = [
  ['input', 'input', null],
  ['cachedInput', 'cachedInput', null],
  ['cacheWrite5m', 'cacheWrite5m', null],
  ['cacheWrite1h', 'cacheWrite1h', null],
  ['output', 'output', null],
  ['reasoning', 'reasoning', 'output'],
  ['audioInput', 'audioInput', 'input'],
  ['imageInput', 'imageInput', 'input'],
  ['audioOutput', 'audioOutput', 'output'],
  ['imageOutput', 'imageOutput', 'output'],
  ['images', 'image', null],
  ['webSearches', 'webSearch', null],
  ['videoSeconds', 'videoSecond', null],
] as const;

/** Price × usage, computed apart from the gateway's own code; every product is a whole number. */
export function chargeNano(usage: Usage, tier: string | null): bigint {
  const times = tiers[tier ?? ''] ?? 1;
  const nano = (name: keyof typeof usd) => {
    const perToken = name === 'image' || name === 'webSearch' || name === 'videoSecond' ? 1e9 : 1e3;
    return Math.round(usd[name] * perToken * times);
  };
  let sum = 0;
  for (const [figure, name, whole] of figures) {
    // What is a part and priced apart is not also charged as its whole; one provider told more of it.
    const counted = whole ? Math.min(usage[figure], usage[whole]) : usage[figure];
    sum += counted * (nano(name) - (whole ? nano(whole) : 0));
  }
  return BigInt(sum);
}

/** Enters the replaying provider with every family. */
export async function offerRecordings(stack: Stack, origin: string): Promise<void> {
  const price = (times: number) =>
    Object.fromEntries(Object.entries(usd).map(([name, dollars]) => [name, String(dollars * times)]));
  const families = ['chat', 'responses', 'messages', 'generate-content', 'images', 'videos'];
  const offered = ({ slug, upstream }: typeof model) => ({
    id: slug,
    name: slug,
    contextTokens: 1_000_000,
    maxOutputTokens: 65_536,
    input: ['text', 'image', 'audio'],
    output: ['text'],
    offers: [
      {
        provider: 'recorded',
        upstreamModel: upstream,
        families,
        price: {
          ...price(1),
          serviceTiers: Object.fromEntries(
            Object.entries(tiers).map(([name, times]) => [name, price(times)]),
          ),
        },
      },
    ],
  });
  const file = {
    providers: [
      {
        id: 'recorded',
        name: 'Recorded',
        families: Object.fromEntries(families.map((family) => [family, origin])),
        credential: { env: 'SANDBOX_KEY' },
        onDisconnect: 'abort',
      },
    ],
    models: [offered(model), offered(nestedModel)],
  };
  const read = readDocument('tests/gateway/contract/recorded', JSON.stringify(file), catalogueShape);
  await applySet(stack.db, joinCatalogues([read]));
  await stack.announce();
}
