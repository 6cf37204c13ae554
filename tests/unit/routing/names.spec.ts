import { describe, expect, it } from 'vitest';
import type { Catalogue, KeySnapshot, ModelFacts, Policy } from '#lib/core/facts/snapshot';
import { chatEdits } from '#lib/core/families/chat/edits';
import { aliasEntries, resolveName, resolveNames } from '#lib/gateway/routing/names/resolve';
import { askChat, makeModel, makeOffer } from '#tests/unit/families/make';

function catalogueOf(...models: readonly ModelFacts[]): Catalogue {
  return { models: new Map(models.map((model) => [model.id, model])), providers: new Map() };
}

const modelOf = (id: string, part: Partial<ModelFacts> = {}) =>
  makeModel({ id, offers: [makeOffer({ modelId: id, upstreamModel: id })], ...part });

const catalogue = catalogueOf(
  modelOf('a/opus', { aliases: ['opus-latest', 'opus-2026-01-01'] }),
  modelOf('a/mini'),
  modelOf('b/mini'),
  modelOf('b/deep/name'),
  modelOf('b/film', { offers: [makeOffer({ families: new Set(['videos']) })] }),
  modelOf('bare'),
  modelOf('c/opus', { offers: [] }),
);

function snapshotOf(policy: Policy = {}, scope: readonly string[] | null = null): KeySnapshot {
  const limits = { rpm: null, tpm: null, concurrency: null };
  return {
    key: {
      id: 'key',
      name: 'key',
      status: 'active',
      quotaExhausted: false,
      models: scope && new Set(scope),
      maxOutputTokens: null,
      caps: { dayNano: null, d7Nano: null, d30Nano: null, quotaNano: null },
      limits,
      expiresAtMs: null,
      ownerRemoved: false,
      sessionEnded: false,
    },
    workspace: { id: 'w', slug: 'w', timeZone: 'UTC', strict: false, suspended: false, limits },
    policies: new Map([['', policy]]),
    content: null,
    secretUntilMs: null,
  };
}

const resolved = (name: string, policy?: Policy, scope?: readonly string[]) =>
  resolveName(name, snapshotOf(policy, scope ?? null), catalogue, 'chat');

describe('a model is named (contract: families/names)', () => {
  it.each([
    ['its slug', 'a/opus', 'a/opus'],
    ['a slug without a slash', 'bare', 'bare'],
    ['an alias of the catalogue', 'opus-2026-01-01', 'a/opus'],
    ['the part after the slash', 'opus', 'a/opus'],
    ['the part after the first slash', 'deep/name', 'b/deep/name'],
    ['nothing that is known', 'name', 'name'],
    ['a word of every object', 'constructor', 'constructor'],
    ['another word of every object', '__proto__', '__proto__'],
  ])('by %s', (_by, name, slug) => expect(resolved(name)).toEqual({ slug }));

  it('an alias of the workspace is found before those of the catalogue and after slugs', () => {
    const aliases = { smart: 'a/mini', 'opus-latest': 'a/mini', opus: 'a/mini', 'a/opus': 'a/mini' };
    for (const name of ['smart', 'opus-latest', 'opus'])
      expect(resolved(name, { aliases })).toEqual({ slug: 'a/mini' });
    expect(resolved('a/opus', { aliases })).toEqual({ slug: 'a/opus' });
  });

  it('a model can be named by the part after the slash only if that is one model in the scope of the key', () => {
    expect(resolved('mini')).toMatchObject({
      code: 'model_not_allowed',
      message: 'Model "mini" could be any of a/mini, b/mini; use the full name of one of them.',
    });
    expect(resolved('mini', {}, ['b/mini', 'a/opus'])).toEqual({ slug: 'b/mini' });
    expect(resolved('opus', {}, ['a/mini'])).toEqual({ slug: 'a/opus' });
  });
});

describe('aliases of the workspace in its models lists (contract: families/model-lists)', () => {
  const entriesOf = (aliases: Policy['aliases'], callable = [...catalogue.models.values()]) =>
    aliasEntries(callable, catalogue, aliases).map(({ id, name, offers }) => [id, name, offers[0]?.modelId]);

  it('aliases are listed under their own names, a chain with its first model that can be called', () => {
    const aliases = { smart: 'a/opus', chain: ['b/mini', 'a/mini'], 'opus-latest': 'a/mini' };
    const listed = [
      ['smart', 'smart', 'a/opus'],
      ['chain', 'chain', 'b/mini'],
      ['opus-latest', 'opus-latest', 'a/mini'],
    ];
    expect(entriesOf(aliases)).toEqual(listed);
    const callable = [...catalogue.models.values()].filter(({ id }) => id !== 'b/mini' && id !== 'a/opus');
    expect(entriesOf(aliases, callable)).toEqual([['chain', 'chain', 'a/mini'], listed[2]]);
  });

  it('aliases are left out if a slug has the same name, or if they name no model', () => {
    expect(entriesOf({ bare: 'a/opus', gone: 'a/none', none: ['a/none'] })).toEqual([]);
    expect(entriesOf(undefined)).toEqual([]);
  });
});

describe('a list of an alias is a chain (contract: families/chain)', () => {
  const aliases = { chain: ['a/opus', 'b/film', 'a/mini', 'bare'] };

  it('a chain is tried in its order', () => {
    expect(resolved('chain', { aliases })).toEqual({ slug: 'a/opus', chain: ['b/film', 'a/mini', 'bare'] });
  });

  it('a chain starts at the first model that the key allows and the family serves', () => {
    expect(resolved('chain', { aliases }, ['bare'])).toEqual({ slug: 'bare', chain: [] });
    expect(resolveName('chain', snapshotOf({ aliases }), catalogue, 'videos')).toEqual({
      slug: 'b/film',
      chain: ['a/mini', 'bare'],
    });
  });

  it('a chain of which the key allows no model is refused by its first model', () => {
    expect(resolved('chain', { aliases }, ['b/mini'])).toMatchObject({ slug: 'a/opus' });
  });
});

describe('an ask', () => {
  it('an ask that names a slug stays as it is', () => {
    const ask = askChat({ model: 'a/opus', messages: [] });
    expect(resolveNames(ask, 'chat', snapshotOf(), catalogue)).toBe(ask);
  });

  it('an ask by another name uses the slug, keeps the name as sent, and is forwarded under the provider’s name', () => {
    const ask = askChat({ model: 'opus', messages: [] });
    const named = resolveNames(ask, 'chat', snapshotOf(), catalogue);
    if ('code' in named) throw new Error(named.message);
    expect(named).toMatchObject({ model: 'a/opus', requestedModel: 'opus' });
    expect(chatEdits(named, makeOffer({ upstreamModel: 'opus' }), null)).toEqual([]);
    // What the provider calls the slug is not what was sent: it must be replaced all the same.
    expect(chatEdits(named, makeOffer({ upstreamModel: 'a/opus' }), null)).toMatchObject([
      { text: '"a/opus"' },
    ]);
  });
});
