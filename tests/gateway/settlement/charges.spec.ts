import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallDetail } from '#lib/control/operations/call/detail';
import { askContent } from '#tests/gateway/content/call';
import { askMessages } from '#tests/gateway/messages/call';
import { askResponses } from '#tests/gateway/responses/call';
import { costOf, expectBalancedBooks, linesOf } from '#tests/support/books';
import { type Asked, ask, askChat, bearer, jsonOf } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { expectRefusal } from '#tests/support/refusals';
import { type Stack, startStack } from '#tests/support/stack';

const token = 'a token for scrapes';
let stack: Stack;
let key: string;
beforeAll(async () => {
  stack = await startStack({ env: { METRICS_TOKEN: token, LOG_LEVEL: 'warn' } });
  const { slug } = await stack.workspace({ tpm: 4_000_000 });
  key = (await stack.key(slug)).key;
});
afterAll(async () => {
  await expectBalancedBooks(stack).finally(() => stack.close());
});

/** One request in each family. */
const families: Readonly<Record<string, (fields: Fields) => Promise<Asked>>> = {
  chat: (fields) => askChat(stack.url, key, fields),
  responses: (fields) => askResponses(stack.url, key, fields),
  messages: (fields) => askMessages(stack.url, key, fields),
  'generate-content': ({ stream, ...fields }) => askContent(stack.url, key, stream ? 'sse' : 'whole', fields),
};
type Fields = { readonly model?: string; readonly stream?: boolean } & Readonly<Record<string, unknown>>;
const each = Object.entries(families);
const streamed = each.flatMap(([name, send]) => [false, true].map((stream) => [name, stream, send] as const));

/** The call at these prices a million tokens, computed from the figures in its row. */
function at(call: CallDetail, input: bigint, output: bigint): bigint {
  return BigInt(call.usage.input) * input * 1_000n + BigInt(call.usage.output) * output * 1_000n;
}

async function flagged(flag: string): Promise<number> {
  const answer = await ask(stack.url, 'GET', '/api/metrics', bearer(token));
  const lines = answer.body.toString().split('\n');
  const found = lines.filter((line) => line.startsWith(`gateway_flagged_charges_total{flag="${flag}"`));
  return found.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

describe('a service tier (contract: money/service-tiers)', () => {
  it.each(each)(
    'without a price is refused in the %s family before the provider gets a request',
    async (_, send) => {
      const asked = await send({ service_tier: 'priority' });
      expectRefusal(asked.answer, 'model_not_allowed');
      expect(asked.answer.body.toString()).toContain('has no service tier \\"priority\\" here');
      expect(await stack.sandbox.seen(asked.mark)).toEqual([]);
    },
  );

  it('that is refused names those that there are', async () => {
    const asked = await families.chat?.({ model: 'sandbox/tiers', service_tier: 'scale' });
    const error = asked && jsonOf(asked.answer).error;
    expect(error).toMatchObject({
      message: expect.stringContaining('ask for one of default, flex, priority'),
    });
  });

  it.each(['auto', 'default', 'standard', 'standard_only', null])('%s always passes', async (tier) => {
    const asked = await askChat(stack.url, key, { service_tier: tier });
    const call = await stack.call(asked.id);
    expect(call).toMatchObject({ status: 200, flags: [] });
    expect(costOf(call)).toBe(at(call, 1n, 4n));
  });

  it.each(streamed)('with a price is charged as it answers: %s, stream %s', async (name, stream, send) => {
    // Anthropic's own tiers are no names of a price; there the answer alone may name one.
    const wish = name === 'messages' ? { directive: 'echo?tier=priority' } : { service_tier: 'priority' };
    const asked = await send({ model: 'sandbox/tiers', stream, ...wish });
    const call = await stack.call(asked.id);
    expect(call).toMatchObject({ status: 200, flags: [] });
    expect(costOf(call)).toBe(at(call, 2n, 8n));
    expect(await linesOf(stack, asked.id)).toEqual([-costOf(call)]);
  });

  it('that the provider did not grant costs the base price', async () => {
    const asked = await askChat(stack.url, key, {
      model: 'sandbox/tiers',
      service_tier: 'priority',
      directive: 'echo?tier=default',
    });
    const call = await stack.call(asked.id);
    expect(costOf(call)).toBe(at(call, 1n, 4n));
    expect(call.flags).toEqual([]);
  });

  it.each(streamed)(
    'without a price that answers is charged at the base price, flagged and logged: %s, stream %s',
    async (_, stream, send) => {
      const before = await flagged('unpriced_tier');
      const asked = await send({ stream, directive: 'echo?tier=scale' });
      const call = await stack.call(asked.id);
      expect(call).toMatchObject({ status: 200, flags: ['unpriced_tier'] });
      expect(costOf(call)).toBe(at(call, 1n, 4n));
      expect(await flagged('unpriced_tier')).toBe(before + 1);
      const line = '"flag":"unpriced_tier","serviceTier":"scale"';
      await eventually(async () => (await stack.log()).includes(line), true);
    },
  );
});

describe('the fast mode of messages', () => {
  const headers = { 'anthropic-beta': 'fast-mode-2026-02-01' };

  it.each([false, true])('is charged at its price (stream: %s)', async (stream) => {
    const asked = await askMessages(
      stack.url,
      key,
      { model: 'test/fast', speed: 'fast', stream },
      { headers },
    );
    const call = await stack.call(asked.id);
    expect(call).toMatchObject({ status: 200, flags: [] });
    expect(costOf(call)).toBe(at(call, 2n, 8n));
  });

  it.each([
    ['of the request', { speed: 'fast' }],
    ['of a fallback at the provider', { fallbacks: [{ model: 'sandbox/mini', speed: 'fast' }] }],
  ])('%s is refused where it has no price', async (_, fields) => {
    const asked = await askMessages(stack.url, key, fields, { headers });
    expectRefusal(asked.answer, 'model_not_allowed');
    expect(await stack.sandbox.seen(asked.mark)).toEqual([]);
  });

  it('does not change the standard speed', async () => {
    const asked = await askMessages(stack.url, key, { speed: 'standard' }, { headers });
    expect(await stack.call(asked.id)).toMatchObject({ status: 200, flags: [] });
  });
});

describe('usage beyond what the model can do (contract: money/usage-bounds)', () => {
  const model = 'sandbox/fault-absurd-usage';
  const most = { input: 1_100_000, output: 72_089 };
  const mostNano = BigInt(most.input) * 1_000n + BigInt(most.output) * 4_000n;

  it.each(streamed)('is charged up to that, flagged and logged: %s, stream %s', async (_, stream, send) => {
    const { slug } = await stack.workspace({ tpm: 4_000_000 });
    const customer = await stack.key(slug);
    const own = key;
    key = customer.key;
    try {
      const before = await flagged('usage_anomaly');
      const call = await stack.call((await send({ model, stream })).id);
      expect(call.flags).toContain('usage_anomaly');
      expect(call.usage).toMatchObject({ input: 1e12, output: 1e12 });
      expect(costOf(call)).toBe(mostNano);
      expect(await flagged('usage_anomaly')).toBe(before + 1);
      const next = await send({});
      expect(next.answer.status, 'TPM counts what was charged').toBe(200);
      await stack.call(next.id);
    } finally {
      key = own;
    }
    const sums = await stack.db.pool.query(
      'SELECT sum(input_tokens)::int AS input, sum(output_tokens)::int AS output FROM usage_quarter WHERE key_id = $1 AND model = $2',
      [customer.id, model],
    );
    expect(sums.rows).toEqual([most]);
  });

  it('may be ten times that if the provider runs tools', async () => {
    const tools = [{ type: 'web_search' }];
    const asked = await askResponses(stack.url, key, { model, tools });
    const call = await stack.call(asked.id);
    expect(call.flags).toContain('usage_anomaly');
    expect(costOf(call)).toBe(11_000_000n * 1_000n + 720_896n * 4_000n);
  });

  it('teaches routing no speed that cannot be', async () => {
    const answer = await ask(stack.url, 'GET', '/api/metrics', bearer(token));
    const line = answer.body
      .toString()
      .split('\n')
      .find((one) => one.startsWith('gateway_offer_output_tokens_per_second') && one.includes(model));
    // In less than a millisecond nobody answers; 10^12 tokens would be far above this.
    expect(Number(line?.split(' ').at(-1))).toBeLessThan(720_896 * 1_000);
  });
});
