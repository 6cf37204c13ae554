import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { createBodyBudget } from '#lib/gateway/flow/body-budget';
import { Connection } from '#lib/gateway/sockets/connection';
import { KeptMemory } from '#lib/gateway/sockets/kept-memory';

const KIB = 1024;

/** A connection whose socket is only listened to, and whose clock the test moves. */
function open(budgetBytes = 64 * KIB * KIB) {
  const carrier = Object.assign(new PassThrough(), { bytesRead: 0, bytesWritten: 0 });
  const socket = Object.assign(new EventEmitter(), {
    readyState: 1,
    bufferedAmount: 0,
    ping: vi.fn(),
    terminate: vi.fn(),
    close: vi.fn(),
    pause: vi.fn(),
    resume: vi.fn(),
    send: vi.fn(),
  });
  let nowMono = 0;
  const taken: { message: Buffer; done: () => void }[] = [];
  const bodies = createBodyBudget(budgetBytes, 'memory', 10);
  const connection = new Connection(
    {
      socket: socket as unknown as WebSocket,
      carrier,
      keyId: 'key',
      bodies,
      maxBytes: 32 * KIB * KIB,
      clock: { mono: () => nowMono },
    },
    (message, _isBinary, done) => taken.push({ message, done }),
  );
  /** Bytes come from the client. */
  const receive = (bytes: number) => {
    carrier.bytesRead += bytes;
    carrier.emit('data', Buffer.alloc(bytes));
  };
  const pass = (seconds: number) => {
    for (let at = 0; at < seconds; at += 5) {
      nowMono += 5_000;
      connection.tick(nowMono);
    }
  };
  return { connection, socket, carrier, bodies, taken, receive, pass };
}

describe('an idle connection (contract: sockets/pings)', () => {
  it('gets a ping every 25 s: more often than a proxy’s limit of 60 s', () => {
    const { socket, receive, pass } = open();
    for (let times = 1; times <= 4; times += 1) {
      pass(25);
      expect(socket.ping).toHaveBeenCalledTimes(times);
      // The pong.
      receive(6);
      socket.emit('pong', Buffer.alloc(0));
    }
    pass(20);
    expect(socket.terminate).not.toHaveBeenCalled();
    expect(socket.close).not.toHaveBeenCalled();
  });

  it('is cut after 80 s without a byte, but not while it is not read', () => {
    const silent = open();
    silent.pass(75);
    expect(silent.socket.terminate).not.toHaveBeenCalled();
    silent.pass(5);
    expect(silent.socket.terminate).toHaveBeenCalledOnce();
    const paused = open();
    paused.connection.pause();
    paused.pass(200);
    expect(paused.socket.terminate).not.toHaveBeenCalled();
  });
});

describe('a client that does not read (contract: sockets/socket-memory)', () => {
  const MIB = KIB * KIB;
  it.each([
    ['what the connection sends', ({ connection }: ReturnType<typeof open>) => connection.send('x')],
    ['pongs', ({ socket }: ReturnType<typeof open>) => socket.emit('ping', Buffer.alloc(0))],
  ])('is not read either while 1 MiB of %s waits for it', (_what, act) => {
    const one = open();
    one.socket.bufferedAmount = MIB;
    act(one);
    expect(one.socket.pause).not.toHaveBeenCalled();
    one.socket.bufferedAmount = MIB + 1;
    act(one);
    act(one);
    expect(one.socket.pause).toHaveBeenCalledOnce();
    one.socket.bufferedAmount = 0;
    one.carrier.emit('drain');
    one.carrier.emit('drain');
    expect(one.socket.resume).toHaveBeenCalledOnce();
  });

  it('is cut after 80 s in which it took nothing', () => {
    const { connection, socket, carrier, pass } = open();
    socket.bufferedAmount = MIB + 1;
    connection.send('x');
    pass(75);
    carrier.bytesWritten += 1;
    pass(80);
    expect(socket.terminate).not.toHaveBeenCalled();
    pass(5);
    expect(socket.terminate).toHaveBeenCalledOnce();
  });
});

it('the reason of a close is not cut inside a character', () => {
  const { connection, socket } = open();
  connection.close(1008, `x${'é'.repeat(100)}`);
  expect(String(socket.close.mock.calls[0]?.[1])).toBe(`x${'é'.repeat(61)}`);
});

describe('a message (contract: sockets/socket-memory)', () => {
  it('that comes a byte a second ends its connection after 30 s', () => {
    const { socket, receive, pass } = open();
    for (let second = 0; second < 30; second += 5) {
      receive(5);
      pass(5);
    }
    expect(socket.close).not.toHaveBeenCalled();
    receive(5);
    pass(5);
    expect(socket.close).toHaveBeenCalledWith(1008, expect.anything());
  });

  it('has a second more for each 64 KiB', () => {
    const { socket, receive, pass } = open();
    receive(20 * 64 * KIB);
    pass(50);
    receive(1);
    pass(5);
    expect(socket.close).toHaveBeenCalledWith(1008, expect.anything());
    const large = open();
    large.receive(60 * 64 * KIB);
    for (let second = 0; second < 80; second += 5) {
      large.receive(1);
      large.pass(5);
    }
    expect(large.socket.close).not.toHaveBeenCalled();
  });

  it('takes the memory of a body until it is done', () => {
    const { socket, taken, receive, bodies } = open(4 * KIB * KIB);
    receive(3 * KIB * KIB);
    socket.emit('message', Buffer.alloc(3 * KIB * KIB), false);
    const other = () => bodies.open('other', 2 * KIB * KIB);
    const waiting = other();
    const waits = waiting.grow(2 * KIB * KIB);
    expect(waits).not.toBeNull();
    waits?.catch(() => {});
    waiting.release();
    taken[0]?.done();
    expect(other().grow(2 * KIB * KIB)).toBeNull();
  });

  it('without room closes its connection with 1013', async () => {
    const { socket, receive, bodies } = open(4 * KIB * KIB);
    const other = bodies.open('other', 3 * KIB * KIB);
    other.grow(3 * KIB * KIB);
    other.received(3 * KIB * KIB);
    receive(2 * KIB * KIB);
    expect(socket.pause).toHaveBeenCalled();
    await vi.waitFor(() => expect(socket.close).toHaveBeenCalledWith(1013, expect.anything()));
  });

  it('half of it gives its memory back when its client leaves', () => {
    const { socket, receive, bodies } = open(4 * KIB * KIB);
    receive(3 * KIB * KIB);
    socket.emit('close');
    expect(bodies.open('other', 4 * KIB * KIB).grow(4 * KIB * KIB)).toBeNull();
  });
});

it('what is kept of responses is limited for the whole process (contract: sockets/continuation)', () => {
  const memory = new KeptMemory(10);
  expect(memory.take(6)).toBe(true);
  expect(memory.take(5)).toBe(false);
  memory.free(6);
  expect(memory.take(10)).toBe(true);
});
