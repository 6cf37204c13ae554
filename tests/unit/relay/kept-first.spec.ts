import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { responses } from '#lib/core/families/responses';
import { Tap } from '#lib/core/relay/tap';
import type { Reply } from '#lib/gateway/flow/lane';
import type { SendLastByte } from '#lib/gateway/flow/relay/parts';
import { createRecorder, NotKept } from '#lib/gateway/flow/relay/recorder';
import { StreamRelay } from '#lib/gateway/flow/relay/stream';
import { WholeRelay } from '#lib/gateway/flow/relay/whole';
import { unconfiguredRuntime } from '#lib/gateway/flow/unconfigured';
import { Exchange } from '#lib/gateway/upstream/exchange';
import { createPools } from '#lib/gateway/upstream/pools';
import { calledBy } from '#tests/unit/families/make';
import { askResponse } from '#tests/unit/families/responses/make';
import { answeredCall } from '#tests/unit/gateway/make-call';
import { createMeter } from '#tests/unit/metering/make';
import { modelOf, offerAt } from '#tests/unit/routing/make';

const minute = 60_000;

/** One answer of the responses family whose keeping the test decides. */
function relayed(stream: boolean) {
  const keeps: { readonly ids: string[]; readonly done: PromiseWithResolvers<void> }[] = [];
  const runtime = {
    ...unconfiguredRuntime(),
    resources: {
      find: () => null,
      keep: (_callId: string, kept: readonly { readonly id: string }[]) => {
        const ids = kept.map(({ id }) => id);
        // What is kept already learns what the call used.
        if (ids.every((id) => keeps.some((one) => one.ids.includes(id)))) return Promise.resolve();
        const done = Promise.withResolvers<void>();
        keeps.push({ ids, done });
        return done.promise;
      },
      unclaimed: async () => [],
      list: async () => ({ views: [], more: false }),
      forget: async () => {},
    },
  };
  const ask = askResponse({ model: 'm', input: 'hello', stream });
  const offer = offerAt('keeper', 'm', { families: new Set(['responses']) });
  if (!offer.price) throw new Error('the offer has a price');
  const target = {
    model: modelOf('m', [offer]),
    offer,
    family: 'responses' as const,
    address: new URL('https://keeper.test/v1'),
    ...calledBy(),
    price: offer.price,
    injectBudget: null,
  };
  const call = answeredCall(responses, ask, target);
  call.outcome.status = 200;
  let sent = '';
  let ended: 'end' | 'cut' | null = null;
  const take = (chunk: Uint8Array | string) => {
    sent += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    return true;
  };
  const reply: Reply = {
    start: () => {},
    started: () => sent !== '',
    write: take,
    onDrain: () => {},
    end: (last = '') => {
      take(last);
      ended = 'end';
    },
    cut: () => {
      ended = 'cut';
    },
  };
  const contentType = stream ? 'text/event-stream' : 'application/json';
  const meter = createMeter(responses, ask, { contentType });
  const tap = new Tap({ removeUsage: false, mask: null });
  const recorder = createRecorder(runtime, call, meter);
  const observer = {
    data: (chunk: Uint8Array) => {
      meter.push(chunk);
      return true;
    },
    over: () => {},
  };
  const exchange = new Exchange(
    { firstByteMs: minute, firstWordMs: minute, idleMs: minute, totalMs: minute },
    { observe: () => observer },
  );
  exchange.ready.catch(() => {});
  const { promise, resolve, reject } = Promise.withResolvers<SendLastByte>();
  const framing = stream ? 'events' : 'whole';
  const answer = {
    target: call.target,
    exchange,
    reading: { framing, meter },
    running: null,
    place: 0,
    beganMono: 0,
    failedMs: 0,
    fault: null,
  } as const;
  const parts = {
    runtime,
    call,
    exchange,
    answer,
    meter,
    tap,
    recorder,
    reply,
    headers: [],
    resolve,
    reject,
  };
  const relay = stream ? new StreamRelay(parts) : new WholeRelay(parts);
  const over = promise
    .then((sendLastByte) => sendLastByte(reply))
    .finally(() => exchange.abort(new Error('over')));
  over.catch(() => {});
  return {
    keeps,
    over,
    sent: () => sent,
    ended: () => ended,
    data: (text: string) => {
      meter.push(Buffer.from(text));
      relay.data(Buffer.from(text));
    },
    end: () => relay.end(),
    fail: () => relay.fail(new Error('the provider broke off')),
    /** Everything that was about to happen has happened. */
    settled: () => new Promise((done) => setImmediate(done)),
    exchange,
    relay,
  };
}

const event = (type: string, rest: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 0, ...rest })}\n\n`;
const created = event('response.created', {
  response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [] },
});
const delta = event('response.output_text.delta', { item_id: 'msg_1', delta: 'hello' });
const completed = event('response.completed', {
  response: { id: 'resp_1', object: 'response', status: 'completed', output: [] },
});
const added = event('response.output_item.added', { item: { type: 'message', id: 'msg_1', content: [] } });

describe('a stream (contract: jobs/recorded-first)', () => {
  it('an event that shows an id, and all events after it, wait until the id is recorded', async () => {
    const stream = relayed(true);
    stream.data(created);
    stream.data(delta);
    await stream.settled();
    expect(stream.keeps.map(({ ids }) => ids)).toEqual([['resp_1']]);
    expect(stream.sent()).toBe('');
    stream.keeps[0]?.done.resolve();
    await stream.settled();
    expect(stream.sent()).toBe(created + delta);
    stream.data(delta);
    expect(stream.sent()).toBe(created + delta + delta);
    stream.data(completed);
    expect(stream.keeps).toHaveLength(1);
    stream.end();
    await stream.over;
    expect(stream.sent()).toBe(created + delta + delta + completed);
    expect(stream.ended()).toBe('end');
  });

  it('a stream ends, successfully or not, only when what it shows is recorded', async () => {
    for (const how of ['end', 'fail'] as const) {
      const stream = relayed(true);
      const said = created + delta + (how === 'end' ? completed : '');
      stream.data(said);
      stream[how]();
      await stream.settled();
      expect([stream.sent(), stream.ended()]).toEqual(['', null]);
      stream.keeps[0]?.done.resolve();
      await stream.over;
      expect(stream.sent().startsWith(said)).toBe(true);
      expect(stream.ended()).toBe('end');
      expect(stream.sent().includes('event: error')).toBe(how === 'fail');
    }
  });

  it('a provider has to wait while what its stream shows is being recorded', async () => {
    const pieces = 200;
    const long = event('response.output_text.delta', { item_id: 'msg_1', delta: 'z'.repeat(200_000) });
    let written = 0;
    const server = createServer(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(created);
      for (; written < pieces; written += 1) if (!response.write(long)) await once(response, 'drain');
      response.end(completed);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const pools = createPools();
    const stream = relayed(true);
    const request = { method: 'GET', path: '/', body: null } as const;
    pools.for(`http://127.0.0.1:${port}`, minute).dispatch(request, stream.exchange);
    await stream.exchange.ready;
    stream.exchange.read(stream.relay);
    let before = -1;
    while (written !== before) {
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(written).toBeLessThan(pieces / 2);
    expect(stream.sent()).toBe('');
    stream.keeps[0]?.done.resolve();
    await stream.over;
    expect(stream.sent() === created + long.repeat(pieces) + completed).toBe(true);
    expect(stream.ended()).toBe('end');
    await pools.close();
    server.close();
  });

  it('a stream is withheld when the first id that it shows cannot be recorded', async () => {
    const stream = relayed(true);
    stream.data(created);
    stream.data(delta);
    stream.keeps[0]?.done.reject(new Error('the disk is full'));
    await expect(stream.over).rejects.toBeInstanceOf(NotKept);
    expect(stream.sent()).toBe('');
  });

  it('a stream breaks off before a later id that cannot be recorded', async () => {
    const stream = relayed(true);
    stream.data(created);
    stream.keeps[0]?.done.resolve();
    await stream.settled();
    stream.data(added + delta);
    stream.keeps[1]?.done.reject(new Error('the disk is full'));
    await stream.over;
    expect(stream.sent().startsWith(`${created}event: response.failed\n`)).toBe(true);
    expect(stream.sent()).toContain('local_quota_not_configured');
    expect(stream.sent()).not.toContain('msg_1');
    expect(stream.ended()).toBe('end');
  });
});

describe('a whole answer (contract: jobs/recorded-first)', () => {
  const answer = JSON.stringify({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    output: [{ type: 'message', id: 'msg_1', content: [] }],
  });

  it('a whole answer is sent when all that it shows is recorded, and not a byte before', async () => {
    const whole = relayed(false);
    for (const at of [0, 20, 40]) whole.data(answer.slice(at, at === 40 ? undefined : at + 20));
    whole.end();
    await whole.settled();
    expect(whole.keeps.map(({ ids }) => ids)).toEqual([['resp_1', 'msg_1']]);
    expect(whole.sent()).toBe('');
    whole.keeps[0]?.done.resolve();
    await whole.over;
    expect(whole.sent()).toBe(answer);
  });

  it('a whole answer is withheld when what it shows cannot be recorded', async () => {
    const whole = relayed(false);
    whole.data(answer);
    whole.end();
    await whole.settled();
    whole.keeps[0]?.done.reject(new Error('the disk is full'));
    await expect(whole.over).rejects.toBeInstanceOf(NotKept);
    expect(whole.sent()).toBe('');
  });

  it('nothing is recorded for a whole answer that shows nothing', async () => {
    const whole = relayed(false);
    whole.data('{"object":"list","data":[]}');
    whole.end();
    await whole.over;
    expect(whole.keeps).toEqual([]);
    expect(whole.sent()).toBe('{"object":"list","data":[]}');
  });
});
