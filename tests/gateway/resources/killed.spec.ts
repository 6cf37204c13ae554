import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asker, complete, tell } from '#tests/gateway/resources/possessions';
import { closeBalanced } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { type OwnStack, startStack } from '#tests/support/stack';
import { record } from '#tools/sandbox/content/tool-call';

describe('what a provider keeps, when the gateway is killed (contract: jobs/recorded-first)', () => {
  let stack: OwnStack;
  let asker: Asker;
  beforeAll(async () => {
    stack = await startStack();
    const { slug } = await stack.workspace({ rpm: 10_000, concurrency: null });
    asker = { url: stack.url, key: (await stack.key(slug)).key };
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  const completions = '/v1/chat/completions';
  const conversations = '/v1/conversations';

  /** Makes one thing. @returns its path; null: its client has seen no id. */
  async function make(completes: boolean): Promise<string | null> {
    const told = await (completes
      ? complete(asker, { store: true })
      : tell(asker, 'POST', conversations, { items: [{ role: 'user', content: 'Hello' }] })
    ).catch(() => null);
    if (told?.status !== 200) return null;
    return `${completes ? completions : conversations}/${told.body.id}`;
  }

  async function listed(): Promise<readonly string[]> {
    const { body } = await tell(asker, 'GET', `${completions}?limit=100`);
    return [body.data].flat().map((one) => `${completions}/${record(one).id}`);
  }

  it.each([1, 9, 17])('is found and listed if its id was seen: %i of 24 answers', async (answers) => {
    const seen: string[] = [];
    const running = Array.from({ length: 24 }, async (_, index) => {
      const path = await make(index % 2 === 0);
      if (path !== null) seen.push(path);
    });
    await eventually(async () => seen.length >= answers, true);
    await stack.kill('SIGKILL');
    await Promise.all(running);
    await stack.start();
    const read = await Promise.all(seen.map(async (path) => [path, (await tell(asker, 'GET', path)).status]));
    expect(read).toEqual(seen.map((path) => [path, 200]));
    const stored = seen.filter((path) => path.startsWith(completions));
    await eventually(async () => {
      const all = await listed();
      return stored.every((path) => all.includes(path));
    }, true);
  });
});
