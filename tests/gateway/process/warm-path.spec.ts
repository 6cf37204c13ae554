import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FrameReader } from '#lib/platform/data/embedded/frames';
import { expectBalancedBooks } from '#tests/support/books';
import { Client } from '#tests/support/fleet/client';
import { type OwnStack, startStack } from '#tests/support/stack';

/** Every statement that the gateway sends to PostgreSQL, by its text. */
let statements: string[] = [];
let stack: OwnStack;
let client: Client;
beforeAll(async () => {
  stack = await startStack({ watchDatabase });
  client = new Client(stack.url);
});
afterAll(async () => {
  client.close();
  await stack.close();
});

/** Reads one connection: a simple query is `Q`, a prepared one begins with `P`. */
function watchDatabase(): (bytes: Buffer) => void {
  const reader = new FrameReader();
  return (bytes) => {
    reader.push(bytes);
    for (let frame = reader.next(); frame; frame = reader.next()) {
      if (frame.type === '') reader.started();
      if (frame.type === 'B') statements.push('one more execution');
      if (frame.type === 'Q') statements.push(textOf(frame.bytes.subarray(5)));
      // A statement's name stands before its text.
      if (frame.type === 'P') statements.push(textOf(frame.bytes.subarray(frame.bytes.indexOf(0, 5) + 1)));
    }
  };
}

/** Up to the closing NUL, literals left out: only the shape of a statement counts. */
function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8', 0, bytes.indexOf(0));
  // Asks for limits have all their values in the text.
  if (/\blimit_(grant|slot|turn)\b/.test(text))
    return `${text.startsWith('BEGIN') ? 'asks' : 'ends asking'} for limits`;
  return text
    .replace(/\s+/g, ' ')
    .replace(/'[^']*'/g, "'…'")
    .trim();
}

/**
 * Sends calls one after the other, evenly over a window, which is longer where the machine is busy.
 * @returns how often each statement was sent meanwhile, and how long that took.
 */
async function countOver(calls: number, windowMs: number, send: () => Promise<void>) {
  statements = [];
  const startMs = performance.now();
  for (let call = 0; call < calls; call += 1) {
    await pause(Math.max(0, startMs + (windowMs * call) / calls - performance.now()));
    await send();
  }
  await pause(Math.max(0, startMs + windowMs - performance.now()));
  const counts = new Map<string, number>();
  for (const text of statements) counts.set(text, (counts.get(text) ?? 0) + 1);
  return { counts, tookMs: performance.now() - startMs };
}

it('on the warm path a call sends no SQL: what is sent at all does not grow with the calls', async () => {
  const { slug } = await stack.workspace({ rpm: 100_000, tpm: null });
  const [plain, capped] = await Promise.all([
    stack.key(slug, { rpm: 50_000, concurrency: 500 }),
    stack.key(slug, { dailyCap: '50', d7Cap: '60', d30Cap: '70', quota: '80' }),
  ]);
  let sent = 0;
  const send = async () => {
    sent += 1;
    const told = await client.call(sent % 2 ? plain.key : capped.key, {
      maxTokens: 20,
      ...(sent % 3 === 0 ? { stream: true } : {}),
    });
    expect(told).toMatchObject({ status: 200, whole: true });
  };
  // Key, lease and cap come into memory.
  for (let call = 0; call < 10; call += 1) await send();
  await pause(1_500);

  const { counts: many, tookMs: manyMs } = await countOver(320, 3_500, send);
  // Over as long: what goes by time alone is the same then. So many that each round of the drain has one to post.
  const fewCalls = Math.max(40, Math.ceil(manyMs / 90));
  const { counts: few, tookMs: fewMs } = await countOver(fewCalls, manyMs, send);
  const total = (counts: Map<string, number>) => [...counts.values()].reduce((sum, count) => sum + count, 0);
  process.stdout.write(
    `statements in one window: ${total(few)} with ${fewCalls} calls, ${total(many)} with 320\n`,
  );
  process.stdout.write(`asks for limits: ${few.get('asks for limits')} and ${many.get('asks for limits')}\n`);
  // Rounds of the drain, the heartbeat and the change feed may fall in or out of a window, calls may not.
  const rounds = 6;
  const due = (text: string) => (few.get(text) ?? 0) * Math.max(1, manyMs / fewMs);
  const executions = many.get('one more execution') ?? 0;
  expect(executions).toBeLessThan(due('one more execution') * 1.2 + 6 * rounds);
  // At most ten a second, however many calls there are (contract: limits/permits).
  for (const text of ['asks for limits', 'ends asking for limits'])
    expect(many.get(text)).toBeLessThan((manyMs / 1000) * 10 + rounds);
  const bounded = ['one more execution', 'asks for limits', 'ends asking for limits'];
  for (const counts of [few, many]) for (const text of bounded) counts.delete(text);
  const grown = [...many].filter(([text, count]) => count > due(text) * 1.2 + rounds);
  expect(grown).toEqual([]);
  const strangers = [...many.keys()].filter((text) => !few.has(text));
  // Those of slower clocks, such as the queue of mail, may all fall into the longer window.
  const often = strangers.map((text) => [text, many.get(text)]).filter(([, count]) => Number(count) > rounds);
  expect(often).toEqual([]);
  expect(many.size).toBeGreaterThan(5);
  await expectBalancedBooks(stack);
});
