import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Reply } from '#lib/gateway/flow/lane';
import { LiveReply, type Signs } from '#lib/gateway/flow/relay/live-reply';
import type { Exchange } from '#lib/gateway/upstream/exchange';
import { Deadlines } from '#lib/platform/deadlines';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const stream = ['content-type', 'text/event-stream'];

/** A live reply on a clock of its own, what its client has got, and the provider's headers. */
function living(signs: Partial<Signs> = {}) {
  const got: string[] = [];
  let keepsUp = true;
  let drained = () => {};
  const inner: Reply = {
    start: (status, headers) => void got.push(`${status} ${headers[1]}`),
    started: () => got.length > 0,
    write: (chunk) => {
      got.push(Buffer.from(chunk).toString());
      return keepsUp;
    },
    onDrain: (listener) => {
      drained = listener;
    },
    end: (last = '') => void got.push(`end ${last}`),
    cut: () => void got.push('cut'),
  };
  let nowMono = 0;
  const reply = new LiveReply(inner, new Deadlines(() => nowMono));
  const exchange = { status: 0, headers: {} as Record<string, string> };
  reply.underway(exchange as unknown as Exchange);
  reply.watch({ afterMs: 15_000, beforeHeaders: false, frame: ': alive\n\n', headers: stream, ...signs });
  return {
    reply,
    got,
    pass: (seconds: number) => {
      for (let tick = 0; tick < seconds * 4; tick += 1) {
        nowMono += 250;
        vi.advanceTimersByTime(250);
      }
    },
    accept: (type = 'text/event-stream; charset=utf-8', status = 200) =>
      Object.assign(exchange, { status, headers: { 'content-type': type } }),
    slow: () => {
      keepsUp = false;
    },
    drain: () => {
      keepsUp = true;
      drained();
    },
    say: (text: string) => reply.write(Buffer.from(text)),
  };
}

describe('the client of a silent stream (contract: routing/sign-of-life)', () => {
  it('a client gets no sign of life before the headers of a 2xx event stream, and one every 15 s after them', () => {
    const { got, pass, accept, reply } = living();
    pass(60);
    expect([got, reply.opened]).toEqual([[], false]);
    accept();
    pass(31);
    expect(got).toEqual(['200 text/event-stream', ...Array(3).fill(': alive\n\n')]);
    expect([reply.opened, reply.started()]).toEqual([true, false]);
  });

  it('a client gets signs of life before any headers if the operator wants it', () => {
    const { got, pass } = living({ beforeHeaders: true });
    pass(16);
    expect(got).toEqual(['200 text/event-stream', ': alive\n\n']);
  });

  it.each([
    ['no event stream', 'application/json', 200],
    ['a refusal', 'text/event-stream', 500],
  ])('gets none while the provider sends %s', (_, type, status) => {
    const { got, pass, accept } = living();
    accept(type, status);
    pass(60);
    expect(got).toEqual([]);
  });

  it('a client gets no signs of life if they are switched off', () => {
    const { got, pass, accept } = living({ afterMs: 0 });
    accept();
    pass(60);
    expect(got).toEqual([]);
  });

  it('a client gets the answer after signs of life, without a second start', () => {
    const { got, pass, accept, reply, say } = living();
    accept();
    pass(16);
    reply.start(200, ['content-type', 'text/event-stream', 'x-answered-provider', 'b']);
    say('data: {}\n\n');
    reply.end('last');
    expect(got).toEqual(['200 text/event-stream', ': alive\n\n', 'data: {}\n\n', 'end last']);
    pass(60);
    expect(got.length).toBe(4);
  });

  it('signs of life are sent between two events of the answer, never inside one', () => {
    const { got, pass, accept, reply, say } = living();
    accept();
    reply.start(200, stream);
    say('data: {"a"');
    pass(60);
    expect(got).toEqual(['200 text/event-stream', 'data: {"a"']);
    say(':1}\n\n');
    pass(14);
    expect(got.length).toBe(3);
    pass(2);
    expect(got.at(-1)).toBe(': alive\n\n');
  });

  it('a client gets no signs of life while it is slower than the answer', () => {
    const { got, pass, accept, reply, say, slow, drain } = living();
    accept();
    reply.start(200, stream);
    reply.onDrain(() => {});
    slow();
    say('data: {}\n\n');
    pass(60);
    expect(got.length).toBe(2);
    drain();
    pass(16);
    expect(got.at(-1)).toBe(': alive\n\n');
  });

  it('a client gets no signs of life in an answer that is not an event stream', () => {
    const { got, pass, reply } = living({ beforeHeaders: true });
    reply.start(200, ['content-type', 'application/json']);
    pass(60);
    expect(got).toEqual(['200 application/json']);
  });
});
