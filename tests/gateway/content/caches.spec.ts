import { ApiError, type CachedContent, GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asker, tell } from '#tests/gateway/resources/possessions';
import { closeBalanced, costOf } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { record } from '#tools/sandbox/content/tool-call';

type Client = Asker & { readonly slug: string } & Pick<GoogleGenAI, 'caches' | 'models'>;

const model = 'sandbox/priced-cache';
const contents = `Words to keep: ${'and more '.repeat(400)}`;
/** Nano-dollars a token of `sandbox/priced-cache`: input, cached input, output, and an hour of storage. */
const [input, cached, output, storage] = [2_000n, 200n, 8_000n, 1_000n];

describe('context caches (contract: batches/caches)', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  async function newClient(settings: Parameters<Stack['workspace']>[0] = { rpm: 10_000 }): Promise<Client> {
    const { slug } = await stack.workspace(settings);
    const { key } = await stack.key(slug);
    const { caches, models } = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: stack.url } });
    return { url: stack.url, key, slug, caches, models };
  }

  const create = ({ caches }: Client, ttl?: string) =>
    caches.create({ model, config: { contents, displayName: 'Words', ...(ttl ? { ttl } : {}) } });
  const nameOf = ({ name = '' }: CachedContent) => name;
  const tokensOf = ({ usageMetadata }: CachedContent) => usageMetadata?.totalTokenCount ?? 0;

  async function listed({ caches }: Client): Promise<(string | undefined)[]> {
    const names: (string | undefined)[] = [];
    for await (const { name } of await caches.list({ config: { pageSize: 2 } })) names.push(name);
    return names;
  }

  /** The newest call of the workspace by this operation. */
  async function callOf({ slug }: Client, operation: string) {
    let id = '';
    await eventually(async () => {
      const { rows } = await stack.db.pool.query(
        `SELECT c.id FROM call c JOIN workspace w ON w.id = c.workspace_id
         WHERE w.slug = $1 AND c.operation = $2 ORDER BY c.at DESC LIMIT 1`,
        [slug, operation],
      );
      id = rows[0]?.id ?? '';
      return id !== '';
    }, true);
    return stack.call(id);
  }

  it('are made, listed, read, used, extended and deleted with the official SDK', async () => {
    const [own, other] = [await newClient(), await newClient()];
    const made = await create(own, '7200s');
    const tokens = tokensOf(made);
    expect(tokens).toBeGreaterThan(500);
    const created = await callOf(own, 'content.caches.create');
    expect(costOf(created)).toBe(BigInt(tokens) * (input + 2n * storage));
    expect(created).toMatchObject({
      usageSource: 'reported',
      usage: { input: tokens },
      lines: [
        { class: 'input', quantity: tokens },
        { class: 'cacheStorage', quantity: tokens * 2 },
      ],
      flags: [],
    });
    expect(await own.caches.get({ name: nameOf(made) })).toMatchObject({ displayName: 'Words' });
    await eventually(() => listed(own), [made.name]);

    const config = { cachedContent: nameOf(made), maxOutputTokens: 20 };
    const answer = await own.models.generateContent({ model, contents: 'Go on', config });
    const used = answer.usageMetadata ?? {};
    expect(used.cachedContentTokenCount).toBe(tokens);
    const rest = (used.promptTokenCount ?? 0) - tokens;
    expect(costOf(await callOf(own, 'content.generate'))).toBe(
      BigInt(rest) * input + BigInt(tokens) * cached + BigInt(used.candidatesTokenCount ?? 0) * output,
    );

    const extended = await own.caches.update({ name: nameOf(made), config: { ttl: '10800s' } });
    expect(Date.parse(extended.expireTime ?? '')).toBeGreaterThan(Date.parse(made.expireTime ?? ''));
    const changed = await callOf(own, 'content.caches.update');
    expect(changed.lines).toMatchObject([{ class: 'cacheStorage' }]);
    // An hour more, and what has passed since it was made.
    const hours = Number(costOf(changed)) / Number(storage) / tokens;
    expect(hours).toBeGreaterThanOrEqual(1);
    expect(hours).toBeLessThan(1.2);
    const shortened = await own.caches.update({ name: nameOf(made), config: { ttl: '60s' } });
    expect(Date.parse(shortened.expireTime ?? '')).toBeLessThan(Date.parse(made.expireTime ?? ''));
    await eventually(async () => costOf(await callOf(own, 'content.caches.update')), 0n);

    expect(await listed(other)).toEqual([]);
    for (const use of [
      () => other.caches.get({ name: nameOf(made) }),
      () => other.caches.update({ name: nameOf(made), config: { ttl: '60s' } }),
      () => other.caches.delete({ name: nameOf(made) }),
      () => other.models.generateContent({ model, contents: 'Go on', config }),
    ]) {
      const error = await use().catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ status: 404 });
    }

    await own.caches.delete({ name: nameOf(made) });
    await expect(own.caches.get({ name: nameOf(made) })).rejects.toMatchObject({ status: 404 });
    await eventually(() => listed(own), []);
  });

  it('live an hour if the request does not say how long, and are charged for it', async () => {
    const own = await newClient();
    const tokens = tokensOf(await create(own));
    expect(costOf(await callOf(own, 'content.caches.create'))).toBe(BigInt(tokens) * (input + storage));
  });

  it('are not listed any more when their time has passed', async () => {
    const own = await newClient();
    const [brief, lasting] = [await create(own, '3s'), await create(own, '60s')];
    await eventually(() => listed(own), [lasting.name]);
    await expect(own.caches.get({ name: nameOf(brief) })).rejects.toMatchObject({ status: 403 });
  });

  it('are used with the model that they were made for, by whatever protocol names them', async () => {
    const own = await newClient();
    const cachedContent = nameOf(await create(own));
    const wrong = { model: 'sandbox/echo', contents: 'Go on', config: { cachedContent } };
    const error = await own.models.generateContent(wrong).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ status: 400 });
    expect(String(error)).toContain(model);
    const chat = (name: string) =>
      tell(own, 'POST', '/v1/chat/completions', {
        model: name,
        max_tokens: 5,
        messages: [{ role: 'user', content: 'Go on' }],
        extra_body: { google: { cached_content: cachedContent } },
      });
    expect(await chat(model)).toMatchObject({ status: 200 });
    expect(await chat('sandbox/echo')).toMatchObject({ status: 400, code: 'model_not_allowed' });
  });

  it.each([
    ['no model', { model: undefined }],
    ['a model without a price for storage', { model: 'models/sandbox/echo' }],
    ['two ends', { ttl: '60s', expireTime: '2030-01-01T00:00:00Z' }],
    ['a ttl that is no time', { ttl: '1 hour' }],
    ['a ttl of another type', { ttl: 60 }],
    ['more than 7 days', { ttl: '604801s' }],
    ['an end in another form', { expireTime: 'tomorrow' }],
  ])('are refused by our own checks: %s', async (_, fields) => {
    const own = await newClient();
    const parts = [{ text: `${own.slug} to keep` }];
    const body = { model: `models/${model}`, contents: [{ role: 'user', parts }], ...fields };
    expect((await tell(own, 'POST', '/v1beta/cachedContents', body)).status).toBe(400);
    expect(await stack.sandbox.seen(`${own.slug} to keep`)).toEqual([]);
  });

  it('hold their storage too, so that a balance bounds them', async () => {
    const own = await newClient({ rpm: 10_000, credit: '0.02', strict: true });
    // A thousand tokens for 168 hours cost 17 cents.
    const refused = await create(own, '604800s').catch((caught: unknown) => caught);
    expect(refused).toMatchObject({ status: 402 });
    expect(tokensOf(await create(own, '60s'))).toBeGreaterThan(0);
  });

  it('are free if the provider refuses them', async () => {
    const own = await newClient();
    const { status } = await tell(own, 'PATCH', '/v1beta/cachedContents/unknown', { ttl: '60s' });
    expect(status).toBe(404);
    const made = await create(own);
    const path = `/v1beta/${nameOf(made)}`;
    expect((await tell(own, 'PATCH', path, {})).status).toBe(400);
    expect(record((await tell(own, 'GET', path)).body).name).toBe(made.name);
  });
});
