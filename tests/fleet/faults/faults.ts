import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Second } from '#tests/support/fleet/second';
import type { OwnStack } from '#tests/support/stack';
import type { TcpProxy } from '#tests/support/tcp-proxy';

/** Two gateways on one PostgreSQL and one Redis, each store behind a proxy. */
export interface Fleet {
  /** Its gateway is killed and started again. */
  readonly stack: OwnStack;
  /** Never killed: what grows in a process is seen in this one. */
  readonly second: Second;
  readonly redisUrl: string;
  readonly redisProxy: TcpProxy;
}

async function away(proxy: TcpProxy, how: 'cut' | 'freeze', lastsMs: number): Promise<void> {
  proxy[how]();
  await pause(lastsMs);
  proxy.restore();
}

/** What may happen to a fleet. Each ends with everything at work again. @param lastsMs of what lasts. */
export const faults: Readonly<Record<string, (fleet: Fleet, lastsMs: number) => Promise<void>>> = {
  'gateway killed': async ({ stack }) => {
    await stack.kill('SIGKILL');
    await stack.start();
  },
  'gateway replaced in order': async ({ stack }) => {
    await stack.kill('SIGTERM');
    await stack.start();
  },
  'gateway stopped and woken': async ({ second }, lastsMs) => {
    second.process.kill('SIGSTOP');
    await pause(lastsMs);
    second.process.kill('SIGCONT');
  },
  'PostgreSQL cut off': ({ stack }, lastsMs) => away(stack.databaseProxy, 'cut', lastsMs),
  'PostgreSQL without an answer': ({ stack }, lastsMs) => away(stack.databaseProxy, 'freeze', lastsMs),
  'connections to PostgreSQL forgotten by a router': async ({ stack }) => stack.databaseProxy.strand(),
  'Redis cut off': ({ redisProxy }, lastsMs) => away(redisProxy, 'cut', lastsMs),
  'Redis without an answer': ({ redisProxy }, lastsMs) => away(redisProxy, 'freeze', lastsMs),
  'Redis emptied': async ({ redisUrl }) => {
    const redis = new Redis(redisUrl);
    await redis.flushall();
    redis.disconnect();
  },
};
