import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectBalancedBooks } from '#tests/support/books';
import { ask, bearer } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { type Second, startSecond } from '#tests/support/fleet/second';
import { type OwnStack, startStack } from '#tests/support/stack';
import { headerOf, type Wire } from '#tests/support/wire';

const repeats = 100;

let stack: OwnStack;
let others: Second[] = [];
beforeAll(async () => {
  stack = await startStack();
  others = await Promise.all([startSecond(stack), startSecond(stack)]);
});
afterAll(async () => {
  await Promise.all(others.map((other) => other.close()));
  await stack.close();
});

const urls = () => [stack.url, ...others.map(({ url }) => url)];

async function open() {
  const unlimited = { rpm: 1_000_000, tpm: null, concurrency: null, idempotency: true, cache: 'asked' };
  const { id, slug } = await stack.workspace(unlimited);
  return { key: (await stack.key(slug)).key, workspaceId: id };
}

interface Sent {
  readonly key: string;
  readonly text: string;
  readonly stream?: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

function send(url: string, { key, text, stream = false, headers }: Sent): Promise<Wire> {
  const body = JSON.stringify({
    model: 'sandbox/echo',
    stream,
    messages: [{ role: 'user', content: text }],
  });
  const given = { ...bearer(key), 'content-type': 'application/json', ...headers };
  return ask(url, 'POST', '/v1/chat/completions', given, body);
}

/** A client that sends the request again, to the next process, until it gets a whole answer of status 200. */
async function retry(from: number, sent: Sent): Promise<Wire> {
  for (let tries = 0; tries < 200; tries += 1) {
    const all = urls();
    const answer = await send(all[(from + tries) % all.length] ?? '', sent).catch(() => null);
    if (answer?.status === 200 && answer.whole) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('no process has answered');
}

/** The calls of a workspace that cost something. */
async function charges(workspaceId: string): Promise<{ end_reason: string }[]> {
  const { rows } = await stack.db.pool.query<{ end_reason: string }>(
    'SELECT end_reason FROM call WHERE workspace_id = $1 AND cost_nano > 0 ORDER BY id',
    [workspaceId],
  );
  return rows;
}
const logged = async (workspaceId: string) =>
  Number(
    (
      await stack.db.pool.query('SELECT count(*) FROM call WHERE workspace_id = $1 AND status = 200', [
        workspaceId,
      ])
    ).rows[0].count,
  );

async function killSecond(): Promise<void> {
  const killed = others.pop();
  if (!killed) throw new Error('there is no second process');
  const ended = once(killed.process, 'exit');
  killed.process.kill('SIGKILL');
  await ended;
  await killed.close();
  others.push(await startSecond(stack));
}

const equal = (answers: readonly Wire[]) => new Set(answers.map(({ body }) => body.toString())).size;

describe('100 repeats over three processes', () => {
  it.each([
    {
      name: 'an Idempotency-Key, whole',
      stream: false,
      headers: { 'idempotency-key': 'one' },
      mark: 'idempotent-replayed',
    },
    {
      name: 'an Idempotency-Key, streamed',
      stream: true,
      headers: { 'idempotency-key': 'one' },
      mark: 'idempotent-replayed',
    },
  ])(
    'are one call of the provider, one charge and equal answers while a process that waits is killed: $name (contract: repeats/running)',
    async ({ stream, headers }) => {
      const { key, workspaceId } = await open();
      const text = `Say ${randomUUID()} [[fault/slow-first-byte?ms=500000]]`;
      const sent = { key, text, stream, headers };
      const first = send(stack.url, sent);
      await stack.sandbox.begun(text);
      const rest = Array.from({ length: repeats - 1 }, (_, index) => retry(index, sent));
      await killSecond();
      await stack.sandbox.release(text);
      const answers = await Promise.all([first, ...rest]);
      expect(equal(answers)).toBe(1);
      expect((await stack.sandbox.seen(text)).length).toBe(1);
      await eventually(async () => (await logged(workspaceId)) >= repeats, true);
      expect(await charges(workspaceId)).toEqual([{ end_reason: 'completed' }]);
    },
  );

  it('are one call and one charge if its process is killed once the answer is kept (contract: repeats/killed)', async () => {
    const { key, workspaceId } = await open();
    const text = `Say ${randomUUID()} [[fault/slow-first-byte?ms=500000]]`;
    const sent = { key, text, headers: { 'idempotency-key': 'one' } };
    const first = send(stack.url, sent).catch(() => null);
    await stack.sandbox.begun(text);
    const rest = Array.from({ length: repeats }, (_, index) => retry(index, sent));
    await stack.sandbox.release(text);
    await eventually(
      async () =>
        (
          await stack.db.pool.query(
            'SELECT 1 FROM kept_answer WHERE workspace_id = $1 AND sealed IS NOT NULL',
            [workspaceId],
          )
        ).rowCount,
      1,
    );
    await stack.kill('SIGKILL');
    await stack.start();
    const answers = await Promise.all(rest);
    await first;
    expect(equal(answers)).toBe(1);
    expect((await stack.sandbox.seen(text)).length).toBe(1);
    await eventually(async () => (await charges(workspaceId)).length, 1);
  });

  it('are made again by another process if theirs is killed before the answer (contract: repeats/killed)', async () => {
    const { key, workspaceId } = await open();
    const text = `Say ${randomUUID()} [[fault/slow-first-byte?ms=500000]]`;
    const sent = { key, text, headers: { 'idempotency-key': 'one' } };
    const first = send(stack.url, sent).catch(() => null);
    await stack.sandbox.begun(text);
    const rest = Array.from({ length: repeats }, (_, index) => retry(1 + (index % 2), sent));
    await stack.kill('SIGKILL');
    await eventually(async () => (await stack.sandbox.seen(text)).length, 2);
    await stack.sandbox.release(text);
    const answers = await Promise.all(rest);
    await first;
    expect(equal(answers)).toBe(1);
    expect(answers.filter((answer) => headerOf(answer, 'idempotent-replayed') === undefined).length).toBe(1);
    expect((await stack.sandbox.seen(text)).length).toBe(2);
    await stack.start();
    // Of the killed call nothing had come (contract: money/interrupted).
    await eventually(() => charges(workspaceId), [{ end_reason: 'completed' }]);
  });

  it('leave the books balanced', async () => {
    await expectBalancedBooks(stack);
  });
});
