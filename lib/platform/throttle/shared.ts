import { hash } from 'node:crypto';
import { Ratelimit } from '@upstash/ratelimit';
import pTimeout from 'p-timeout';
import type { Limit, Throttle } from '#lib/platform/throttle/throttle';

type Redis = ConstructorParameters<typeof Ratelimit>[0]['redis'];

/** What a throttle needs of a Redis; `eval` too, which @upstash/ratelimit calls when a script is not there yet. */
export type ThrottleRedis = Pick<Redis, 'evalsha' | 'get' | 'set'> & {
  eval(script: string, keys: string[], args: unknown[]): Promise<unknown>;
};

const markSeconds = 60 * 24 * 3600;

/**
 * Counts in Redis, for all processes. @upstash/ratelimit lets everything pass when Redis is slow and throws when it
 * is away; `alone` counts then, so that guessing is never unlimited (contract: control-plane/throttles).
 */
export class SharedThrottle implements Throttle {
  readonly #redis: ThrottleRedis;
  readonly #alone: Throttle;
  readonly #report: (error: unknown) => void;
  readonly #patienceMs: number;
  readonly #limiters = new Map<string, Ratelimit>();

  /** @param patienceMs how long a claim may take Redis: beyond it this process counts for itself. */
  constructor(redis: ThrottleRedis, alone: Throttle, report: (error: unknown) => void, patienceMs: number) {
    this.#redis = redis;
    this.#alone = alone;
    this.#report = report;
    this.#patienceMs = patienceMs;
  }

  claim(limits: readonly Limit[]): Promise<number> {
    return this.#or(
      () => this.#claimAll(limits),
      () => this.#alone.claim(limits),
    );
  }

  giveBack(limit: Limit): Promise<void> {
    return this.#or(
      async () => {
        await this.#take(limit, -1);
      },
      () => this.#alone.giveBack(limit),
    );
  }

  forget(limit: Limit): Promise<void> {
    return this.#or(
      async () => {
        const { remaining } = await this.#limiterOf(limit).getRemaining(keyOf(limit.id));
        const used = limit.most - remaining;
        if (used > 0) await this.#take(limit, -used);
      },
      () => this.#alone.forget(limit),
    );
  }

  mark(id: string): Promise<void> {
    return this.#or(
      async () => {
        await this.#redis.set(markOf(id), '1', { ex: markSeconds });
      },
      () => this.#alone.mark(id),
    );
  }

  isMarked(id: string): Promise<boolean> {
    return this.#or(
      async () => (await this.#redis.get(markOf(id))) !== null,
      () => this.#alone.isMarked(id),
    );
  }

  async #claimAll(limits: readonly Limit[]): Promise<number> {
    const taken: Limit[] = [];
    for (const limit of limits) {
      const { success, reset } = await this.#take(limit, 1);
      if (success) {
        taken.push(limit);
        continue;
      }
      for (const one of taken) await this.#take(one, -1);
      return Math.max(1, Math.ceil((reset - Date.now()) / 1000));
    }
    return 0;
  }

  async #take(limit: Limit, rate: number): Promise<{ success: boolean; reset: number }> {
    const answer = await this.#limiterOf(limit).limit(keyOf(limit.id), { rate });
    if (answer.reason === 'timeout') throw new Error('Redis took too long');
    return answer;
  }

  #limiterOf({ most, windowSeconds }: Limit): Ratelimit {
    const name = `${most}/${windowSeconds}`;
    const known = this.#limiters.get(name);
    if (known) return known;
    const made = new Ratelimit({
      redis: this.#redis,
      limiter: Ratelimit.slidingWindow(most, `${windowSeconds} s`),
      prefix: `gateway:throttle:${name}`,
      timeout: this.#patienceMs,
      // It would refuse for a whole window what was given back in the meantime.
      ephemeralCache: false,
      analytics: false,
      enableTelemetry: false,
    });
    this.#limiters.set(name, made);
    return made;
  }

  async #or<R>(shared: () => Promise<R>, alone: () => Promise<R>): Promise<R> {
    try {
      return await pTimeout(shared(), { milliseconds: this.#patienceMs, message: 'Redis took too long' });
    } catch (error) {
      this.#report(error);
      return alone();
    }
  }
}

/** A key of fixed length, which contains no address or other input of strangers. */
function keyOf(id: string): string {
  return hash('sha256', id, 'base64url');
}

function markOf(id: string): string {
  return `gateway:throttle:mark:${keyOf(id)}`;
}
