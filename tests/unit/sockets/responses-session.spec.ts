import { describe, expect, it } from 'vitest';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { unconfiguredRuntime } from '#lib/gateway/flow/unconfigured';
import type { Connection } from '#lib/gateway/sockets/connection';
import { KeptMemory } from '#lib/gateway/sockets/kept-memory';
import { ResponsesSession } from '#lib/gateway/sockets/responses';

const hourMs = 3_600_000;

/** A session in a process that refuses every call, and what it tells its client. */
function open() {
  let nowMono = 0;
  const sent: { readonly status?: number; readonly error?: { readonly code: string } }[] = [];
  const closes: number[] = [];
  let paused = 0;
  const told = {
    open: true,
    keepsUp: true,
    send: (frame: string) => sent.push(JSON.parse(frame)),
    close: (code: number) => {
      told.open = false;
      closes.push(code);
    },
    tick: () => {},
    pause: () => {
      paused += 1;
    },
    resume: () => {
      paused -= 1;
    },
    onGone: () => () => {},
    onDrain: () => () => {},
    terminate: () => {},
  };
  const runtime: Runtime = { ...unconfiguredRuntime(), clock: { now: Date.now, mono: () => nowMono } };
  const session = new ResponsesSession(told as unknown as Connection, {
    runtime,
    memory: new KeptMemory(),
    head: { target: '/v1/responses', headers: { authorization: `Bearer mg_${'a'.repeat(49)}` } },
  });
  return {
    session,
    sent,
    closes,
    ask: () => session.take(Buffer.from('{"type":"response.create"}'), false, () => {}),
    pass: (ms: number) => {
      nowMono += ms;
      session.tick(nowMono);
    },
    isPaused: () => paused > 0,
    told: (count: number) => expect.poll(() => sent.length).toBe(count),
  };
}

describe('how a connection ends (contract: sockets/socket-end)', () => {
  it('after an hour, it is closed behind what runs, and its client is told to open another', async () => {
    const { pass, closes, sent, ask, told } = open();
    pass(hourMs - 1);
    expect(closes).toEqual([]);
    ask();
    pass(1);
    expect(closes).toEqual([]);
    await told(2);
    const code = 'websocket_connection_limit_reached';
    expect(sent.map(({ error }) => error?.code)).toEqual([code, code]);
    expect(closes).toEqual([1000]);
  });

  it('of a stopping process: the requests that it has are answered first', async () => {
    const { session, closes, ask, told } = open();
    ask();
    ask();
    session.end(1001, 'stopping');
    expect(closes).toEqual([]);
    await told(2);
    await expect.poll(() => closes).toEqual([1001]);
  });
});

it('while 64 requests wait, nothing more is read (contract: sockets/lanes)', async () => {
  const { ask, isPaused, told } = open();
  for (let at = 0; at < 63; at += 1) ask();
  expect(isPaused()).toBe(false);
  ask();
  expect(isPaused()).toBe(true);
  await told(64);
  expect(isPaused()).toBe(false);
});
