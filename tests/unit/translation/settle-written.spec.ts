import { describe, expect, it } from 'vitest';
import type { Conversation, TextProtocol } from '#lib/core/translation/conversation';
import { PackageRun } from '#lib/gateway/translation/package-run';
import { prepareFor } from '#lib/gateway/translation/pure/prepare';
import { settleWritten } from '#lib/gateway/translation/pure/settle-written';

const conversation: Conversation = {
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'Say "temperature":1' }] }],
};

/** The body that is sent, and the fields that are reported to the client as lost. */
async function settled(
  to: TextProtocol,
  model: string,
  part: Partial<Conversation>,
  { budget = 5_000, from = 'chat' as TextProtocol } = {},
) {
  const prepared = prepareFor(to, { ...conversation, ...part }, { maker: 'x', budget, reasoning: true });
  if ('message' in prepared) throw new Error(prepared.message);
  const run = await PackageRun.begin(to, model, { conversation: prepared, stream: true });
  const { body, dropped } = settleWritten(run.written.body, { from, to, conversation: prepared, budget });
  run.abandon();
  return { body: JSON.parse(Buffer.from(body).toString()), dropped };
}

describe('a request that a package has written (contract: translation/budget, translation/losses)', () => {
  it('has thinking inside its output budget', async () => {
    const { body } = await settled('messages', 'claude-haiku-4-5', { reasoning: 'high' });
    expect(body.max_tokens).toBe(5_000);
    expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 4_000 });
  });

  it('has no thinking if the budget leaves no room for it', async () => {
    const { body } = await settled('messages', 'claude-haiku-4-5', { reasoning: 'high' }, { budget: 1_200 });
    expect(body.max_tokens).toBe(1_200);
    expect(body.thinking).toBeUndefined();
  });

  it.each([
    ['responses', 'gpt-5', 'chat', ['temperature', 'top_p']],
    ['responses', 'gpt-5', 'generate-content', ['generationConfig.temperature', 'generationConfig.topP']],
    ['messages', 'claude-sonnet-5', 'chat', ['temperature', 'top_p']],
    ['chat', 'any', 'messages', []],
    ['generate-content', 'gemini-3-pro', 'messages', []],
  ] as const)(
    'for %s names the sampling that %s rejects, to a client of %s',
    async (to, model, from, lost) => {
      const { body, dropped } = await settled(to, model, { temperature: 0.5, topP: 0.9 }, { from });
      expect(dropped).toEqual(lost);
      if (lost.length === 0) expect(JSON.stringify(body)).toContain('0.5');
    },
  );

  it.each(['responses', 'messages', 'generate-content'] as const)('has its budget once: %s', async (to) => {
    const { body } = await settled(to, 'any', {});
    expect(JSON.stringify(body).match(/5000/g)).toHaveLength(1);
  });
});
