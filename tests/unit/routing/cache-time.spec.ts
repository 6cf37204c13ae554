import { describe, expect, it } from 'vitest';
import type { Ask } from '#lib/core/families/family';
import type { FamilyCall } from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { checkTime } from '#lib/gateway/flow/steps/time-cache';
import { timeLimitsOf } from '#lib/gateway/routing/pure/time-limits';

const operation = { steps: 'generate', caches: true };

describe('requests about context caches (contract: batches/cache-charge)', () => {
  it('wait as long as usual, whatever the policy says, since the provider may keep what no one waits for', () => {
    const timeouts = { firstByteWholeMs: 10, totalMs: 10, connectMs: 10 };
    const limits = (of: object) => timeLimitsOf({ timeouts }, { operation: of, stream: false } as Ask);
    expect(limits({ steps: 'generate' })).toMatchObject({ firstByteMs: 10, totalMs: 10 });
    expect(limits(operation)).toMatchObject({ firstByteMs: 600_000, totalMs: 3_600_000 });
  });

  it('are refused if their body took more than a minute, since the end counts from when it arrives', () => {
    const runtime = { clock: { now: () => 1_060_001 } } as Runtime;
    const call = (of: object, nowMs: number) =>
      ({ operation: of, params: { nowMs: String(nowMs) } }) as unknown as FamilyCall;
    expect(() => checkTime(runtime, call(operation, 1_000_000))).toThrow(/within 60 s/);
    expect(() => checkTime(runtime, call(operation, 1_000_001))).not.toThrow();
    expect(() => checkTime(runtime, call({ steps: 'generate' }, 0))).not.toThrow();
  });
});
