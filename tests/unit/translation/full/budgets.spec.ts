import { describe, expect, it } from 'vitest';
import { type JsonObject, objectIn } from '#lib/core/families/reading/json';
import type { TextProtocol } from '#lib/core/translation/conversation';
import { fullRequests } from '#tests/unit/translation/full/requests';
import { type Typed, typeErrors } from '#tests/unit/translation/sdk-types';
import { sendAs } from '#tests/unit/translation/sent';

const protocols = ['chat', 'responses', 'messages', 'generate-content'] as const;

/** Models whose budgets, thinking and schemas the packages treat differently; they do not know the last. */
const models: Readonly<Record<TextProtocol, readonly string[]>> = {
  chat: ['gpt-5', 'mystery-1'],
  responses: ['gpt-4.1', 'gpt-5', 'gpt-5-nano', 'o3', 'gpt-6', 'mystery-1'],
  messages: [
    'claude-3-haiku-20240307',
    'claude-haiku-4-5',
    'claude-sonnet-4-5',
    'claude-opus-5',
    'claude-sonnet-5-5',
    'claude-opus-5-5',
    'claude-next-9',
    'mystery-1',
  ],
  'generate-content': ['gemini-2.0-flash', 'gemini-2.5-pro', 'gemini-3-pro-preview', 'gemma-3', 'mystery-1'],
};

/** Below and above what the packages add and limit by themselves. */
const budgets = [1, 15, 77, 1_279, 1_280, 5_000, 70_000, 1_000_000];

function withBudget(from: TextProtocol, tokens: number): JsonObject {
  const request = fullRequests[from];
  switch (from) {
    case 'chat':
      return { ...request, max_completion_tokens: tokens, reasoning_effort: 'high' };
    case 'responses':
      return { ...request, max_output_tokens: tokens, reasoning: { effort: 'high' } };
    case 'messages':
      return { ...request, max_tokens: tokens, thinking: { type: 'enabled', budget_tokens: tokens } };
    case 'generate-content': {
      const thinkingConfig = { thinkingBudget: tokens };
      const config = { ...objectIn(request.generationConfig), maxOutputTokens: tokens, thinkingConfig };
      return { ...request, generationConfig: config };
    }
  }
}

/** Every number of tokens in a body, by its path. */
function tokensIn(value: unknown, path = ''): [string, number][] {
  const object = objectIn(value);
  if (!object) return [];
  return Object.entries(object).flatMap(([name, child]): [string, number][] =>
    typeof child === 'number' && /tokens|budget/i.test(name)
      ? [[`${path}${name}`, child]]
      : tokensIn(child, `${path}${name}.`),
  );
}

const directions = protocols.flatMap((from) =>
  protocols.filter((to) => to !== from).map((to) => ({ from, to })),
);

const bodies: Typed[] = [];

describe.each(directions)('a full request of $from on models of $to', ({ from, to }) => {
  it('has its own budget, with thinking in it, for each model', async () => {
    for (const budget of budgets) {
      for (const name of models[to]) {
        const sent = await sendAs(from, to, withBudget(from, budget), { name, reasoning: true });
        if ('message' in sent) throw new Error(sent.message);
        const [[path, tokens] = ['', 0], ...others] = tokensIn(sent.body).sort(
          ([one], [other]) => Number(/budget/i.test(one)) - Number(/budget/i.test(other)),
        );
        expect([name, path, tokens]).toEqual([
          name,
          expect.stringMatching(/^(generationConfig\.)?max_?(output_?)?tokens$/i),
          to === 'responses' ? Math.max(budget, 16) : budget,
        ]);
        for (const [thinking, share] of others) {
          expect(thinking).toMatch(
            /^(thinking\.budget_tokens|generationConfig\.thinkingConfig\.thinkingBudget)$/,
          );
          if (budget >= 1_280) expect([name, budget, share <= budget * 0.8]).toEqual([name, budget, true]);
          if (to === 'messages') expect(share).toBeGreaterThanOrEqual(1_024);
        }
        bodies.push({ protocol: to, body: sent.body, from: `${from} for ${name}` });
      }
    }
  });
});

it('all of these bodies are as the published schemas have it', async () => {
  expect(bodies.length).toBeGreaterThan(400);
  expect(await typeErrors(bodies)).toEqual([]);
});
