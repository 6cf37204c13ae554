import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mountSmallDisk, type SmallDisk } from '#tests/gateway/process/small-disk';
import {
  chunkOf,
  lastChunk,
  type RawProvider,
  startRawProvider,
  streamHead,
  wholeAnswer,
} from '#tests/gateway/strange-answers/raw-provider';
import { expectBalancedBooks } from '#tests/support/books';
import { type Asked, askChat, codeOf } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { type OwnStack, startStack } from '#tests/support/stack';

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const price = '0.00003';
const event = (fields: object) => `data: ${JSON.stringify({ id: 'c1', ...fields })}\n\n`;
const whole = JSON.stringify({
  choices: [{ index: 0, message: { content: 'one' }, finish_reason: 'stop' }],
  usage,
});

/** A request that has reached the provider, which answers when the test says so. */
interface Held {
  readonly reached: Promise<Socket>;
  readonly answered: Promise<Asked>;
}

describe('a full disk (contract: durability/append-fails, durability/withheld-answer)', () => {
  let disk: SmallDisk;
  let provider: RawProvider;
  let stack: OwnStack;
  let key: string;
  beforeAll(async () => {
    disk = mountSmallDisk(8);
    provider = await startRawProvider();
    stack = await startStack({ dataDir: disk.path, env: { TEST_SCRIPTED_URL: provider.url } });
    key = (await stack.key((await stack.workspace({ rpm: null })).slug)).key;
  });
  afterAll(async () => {
    await stack?.close();
    await provider?.close();
    disk?.close();
  });

  const held = (name: string, wish: object = {}): Held => {
    const reached = Promise.withResolvers<Socket>();
    provider.on(name, (socket) => reached.resolve(socket));
    const asked = { model: 'test/scripted', directive: name, ...wish };
    return { reached: reached.promise, answered: askChat(stack.url, key, asked) };
  };
  const ask = () => askChat(stack.url, key, { model: 'sandbox/echo' });
  const ready = () => fetch(`${stack.url}/api/health`).then((answer) => answer.ok);

  /** Fills the disk, and the last page of the journal with refusals of a model that is not there. */
  async function fillDisk(): Promise<void> {
    disk.fill();
    while (await ready()) await askChat(stack.url, key, { model: 'no/such' });
  }

  it('refuses calls that cannot be written, charges no refused call, and admits calls again automatically', async () => {
    expect((await ask()).answer.status).toBe(200);
    const [wholeCall, streamed] = [held('whole-answer'), held('streamed-answer', { stream: true })];
    const [wholeSocket, streamSocket] = [await wholeCall.reached, await streamed.reached];
    streamSocket.write(streamHead());
    streamSocket.write(chunkOf(event({ choices: [{ index: 0, delta: { content: 'one' } }] })));
    await fillDisk();

    wholeSocket.write(wholeAnswer('200 OK', whole));
    const refused = await wholeCall.answered;
    expect([refused.answer.status, codeOf(refused.answer)]).toEqual([500, 'local_quota_not_configured']);
    expect(await stack.call(refused.id)).toMatchObject({
      status: 500,
      errorCode: 'local_quota_not_configured',
      flags: ['machine_disk'],
      endReason: 'interrupted',
      usageSource: 'none',
      cost: '0',
      lines: [],
      attempts: [{ status: 200 }],
    });

    // Its parts were delivered; that it is over is not said, because its charge was not written.
    const end =
      event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) + event({ choices: [], usage });
    streamSocket.write(Buffer.concat([chunkOf(`${end}data: [DONE]\n\n`), Buffer.from(lastChunk)]));
    const cut = await streamed.answered;
    expect(cut.answer).toMatchObject({ status: 200, whole: false });
    expect(cut.answer.body.toString()).toContain('"content":"one"');
    expect(cut.answer.body.toString()).not.toContain('[DONE]');
    expect(await stack.call(cut.id)).toMatchObject({
      status: 200,
      errorCode: 'local_quota_not_configured',
      flags: ['machine_disk'],
      endReason: 'interrupted',
      cost: price,
    });

    const turnedAway = await ask();
    expect([turnedAway.answer.status, codeOf(turnedAway.answer)]).toEqual([
      500,
      'local_quota_not_configured',
    ]);
    expect(await stack.call(turnedAway.id)).toMatchObject({
      status: 500,
      endReason: 'refused',
      cost: '0',
      flags: ['machine_disk'],
    });
    expect(stack.log().match(/"fault":"machine_disk"/g)).toHaveLength(1);

    disk.free();
    await eventually(ready, true);
    const after = await ask();
    expect(after.answer.status).toBe(200);
    expect((await stack.call(after.id)).status).toBe(200);
    await expectBalancedBooks(stack);
  });
});
