import { describe, expect, it } from 'vitest';
import type { Resource } from '#lib/core/facts/resource';
import type { Address, Policy, ProviderFacts } from '#lib/core/facts/snapshot';
import type { Operation } from '#lib/core/families/family';
import { planStored, type StoredPlanInput } from '#lib/gateway/routing/plan-stored';
import { limitsOfModel } from '#lib/gateway/routing/pure/time-limits';
import { makeProvider } from '#tests/unit/families/make';
import { askOf, catalogueOf, modelOf, offerAt } from '#tests/unit/routing/make';

const operation: Operation = {
  name: 'videos.retrieve',
  family: 'videos',
  method: 'GET',
  path: 'videos/{id}',
  prefixes: ['v1'],
  steps: 'stored',
  fields: null,
  resource: { kind: 'video', param: 'id' },
};

const kept: Resource = {
  kind: 'video',
  id: 'video_1',
  workspaceId: 'w',
  providerId: 'keeper',
  credential: 'default',
  family: 'videos',
  modelId: 'film',
  upstreamModel: 'film-1',
  callId: '01900000-0000-7000-8000-000000000000',
  job: true,
  tokens: 0,
  createdAtMs: 0,
};

const ready: Address = { state: 'ready', url: new URL('https://keeper.test/v1') };

function keeper(part: Partial<ProviderFacts> = {}, address: Address | null = ready): ProviderFacts {
  const families = new Map(address ? [['videos', address] as const] : []);
  return makeProvider({ id: 'keeper', families, ...part });
}

function offerOf(model: string, provider = keeper(), part: Parameters<typeof offerAt>[2] = {}) {
  return offerAt(provider.id, model, { provider, families: new Set(['videos']), ...part });
}

function plan(part: Partial<StoredPlanInput> & { readonly policy?: Policy } = {}) {
  const { policy, ...rest } = part;
  const other = offerAt('other', 'film', { families: new Set(['videos']) });
  return planStored({
    ask: { ...askOf(), operation, model: 'film' },
    resource: kept,
    catalogue: catalogueOf(
      modelOf('film', [other, offerOf('film', keeper(), { upstreamModel: 'film-2' })]),
      modelOf('other', [offerOf('other')]),
    ),
    snapshot: { policies: new Map(policy ? [['', policy]] : []) },
    ...rest,
  });
}

describe('a call on what a provider keeps (contract: routing/pinned)', () => {
  it('a call on a stored resource goes only to its provider, under the name that the provider uses', () => {
    const { targets, failure } = plan();
    expect(failure).toBeNull();
    expect(targets).toHaveLength(1);
    expect(targets[0]).toMatchObject({
      model: { id: 'film' },
      offer: { id: 'film@keeper', modelId: 'film', upstreamModel: 'film-1', provider: { id: 'keeper' } },
      family: 'videos',
      address: ready.state === 'ready' ? ready.url : null,
      credential: { name: 'default', secret: 'secret' },
      injectBudget: null,
    });
  });

  it('a call on a stored resource goes to its provider even if the offer is retired (contract: routing/retired)', () => {
    const catalogue = catalogueOf(modelOf('film', [offerOf('film', keeper(), { servedUntilMs: 0 })]));
    expect(plan({ catalogue }).targets.map(({ offer }) => offer.provider.id)).toEqual(['keeper']);
  });

  it('a call on a stored resource ignores the policy except for its time limits', () => {
    const policy: Policy = {
      only: ['other'],
      ignore: ['keeper'],
      maxPrice: { input: '0', output: '0' },
      timeouts: { connectMs: 7, firstByteWholeMs: 8, idleMs: 9 },
    };
    const { targets, timeLimits } = plan({ policy });
    expect(targets.map(({ offer }) => offer.provider.id)).toEqual(['keeper']);
    expect(timeLimits).toMatchObject({ connectMs: 7, firstByteMs: 8, idleMs: 9 });
  });

  it('a call on a stored resource has a minute for its first byte, and a download no total time limit', () => {
    expect(plan().timeLimits).toEqual({
      connectMs: 5_000,
      firstByteMs: 60_000,
      firstWordMs: null,
      idleMs: null,
      totalMs: 3_600_000,
      holdMs: 5_000,
    });
    const download: Operation = { ...operation, download: 'direct' };
    const { timeLimits } = plan({ ask: { ...askOf(), operation: download, model: 'film' } });
    expect(limitsOfModel(timeLimits, { reasoning: false })).toMatchObject({
      firstByteMs: 60_000,
      idleMs: 300_000,
      totalMs: Infinity,
    });
  });

  it('a call on a stored resource goes to its provider even if the offer was withdrawn: another offer lends its facts', () => {
    for (const catalogue of [
      catalogueOf(modelOf('film', []), modelOf('other', [offerOf('other')])),
      catalogueOf(modelOf('other', [offerOf('other')])),
      catalogueOf(modelOf('chat', [offerOf('chat', keeper(), { families: new Set(['chat']) })])),
    ]) {
      const [target] = plan({ catalogue }).targets;
      expect(target).toMatchObject({
        model: { id: 'film' },
        offer: { modelId: 'film', upstreamModel: 'film-1' },
      });
    }
  });

  it.each([
    ['is gone', null, 'missing_upstream_base_url', 'keeper'],
    ['lacks its credential', keeper({ credentials: [] }), 'missing_upstream_base_url', 'a credential'],
    ['has no address for the family', keeper({}, null), 'missing_upstream_base_url', 'the videos family'],
    [
      'has an address that is not set',
      keeper({}, { state: 'missing', why: 'FILM_URL is not set' }),
      'missing_upstream_base_url',
      'FILM_URL is not set',
    ],
    [
      'has an address that is none',
      keeper({}, { state: 'invalid', why: 'FILM_URL is no URL' }),
      'invalid_upstream_base_url',
      'FILM_URL is no URL',
    ],
  ] as const)('is refused when the provider %s', (_why, provider, code, told) => {
    const offers = provider ? [offerOf('film', provider)] : [offerAt('other', 'film')];
    const { targets, failure } = plan({ catalogue: catalogueOf(modelOf('film', offers)) });
    expect(targets).toEqual([]);
    expect(failure).toMatchObject({ code, message: expect.stringContaining(told) });
  });
});
