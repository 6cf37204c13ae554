import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addChains, givePolicy, placeIn } from '#tests/gateway/routing/chains';
import { ask, askChat, bearer, codeOf, jsonOf } from '#tests/support/chat-call';
import { type InProcess, startInProcess } from '#tests/support/in-process';
import { headerOf } from '#tests/support/wire';

const dayMs = 86_400_000;
let stack: InProcess;
let key = '';
let slug = '';
let midnightMs = 0;
let day = '';

beforeAll(async () => {
  stack = await startInProcess({ still: true });
  const limits = { rpm: null, tpm: null, concurrency: null };
  ({ key, workspace: slug } = await stack.key({}, limits));
  // Tomorrow: the day does not end while the file is read.
  midnightMs = (Math.floor(stack.now() / dayMs) + 2) * dayMs;
  day = new Date(midnightMs - 1).toISOString().slice(0, 10);
  await addChains(stack, {
    'retired/one-of-two': [{ retires: day, name: 'echo' }, 'echo'],
    'retired/alone': [{ retires: day, name: 'echo' }],
    'retired/with-fallback': [{ retires: day, name: 'echo' }],
  });
  const policy = { fallbackModels: ['retired/one-of-two'] };
  await givePolicy(stack, slug, policy, 'retired/with-fallback');
});
afterAll(() => stack.close());

const call = async (model: string) => {
  const { answer } = await askChat(stack.url, key, { model });
  return {
    status: answer.status,
    code: codeOf(answer),
    message: String(JSON.stringify(jsonOf(answer))),
    place: placeIn(headerOf(answer, 'x-answered-provider')),
  };
};
const listed = async () => {
  const answer = await ask(stack.url, 'GET', '/v1/models', bearer(key));
  const { data } = jsonOf(answer) as { data: { id: string }[] };
  const ids = data.map(({ id }) => id).filter((id) => id.startsWith('retired/'));
  return ids.sort();
};

describe('an offer whose last day ends while the gateway runs (contract: routing/retired)', () => {
  it('answers until midnight UTC', async () => {
    stack.pass((midnightMs - 1 - stack.now()) / 1000);
    expect(await call('retired/one-of-two')).toMatchObject({ status: 200, place: 'first' });
    expect(await call('retired/alone')).toMatchObject({ status: 200, place: 'first' });
    expect(await listed()).toEqual(['retired/alone', 'retired/one-of-two', 'retired/with-fallback']);
  });

  it('is not called from then on, nor listed, without anything being read again', async () => {
    stack.pass((midnightMs - stack.now()) / 1000);
    expect(await call('retired/one-of-two')).toMatchObject({ status: 200, place: 'second' });
    expect(await call('retired/with-fallback')).toMatchObject({ status: 200, place: 'second' });
    const refused = await call('retired/alone');
    expect(refused).toMatchObject({ status: 400, code: 'model_not_allowed' });
    expect(refused.message).toContain(`retired on ${day}`);
    expect(await listed()).toEqual(['retired/one-of-two']);
  });
});
