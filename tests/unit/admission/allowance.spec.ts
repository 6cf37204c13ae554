import { describe, expect, it } from 'vitest';
import { Allowance } from '#lib/gateway/admission/allowance';
import { LeaseBook } from '#lib/gateway/admission/lease-book';

const limits = { forMs: 600_000, boundNano: 900n };
const payer = { workspaceId: 'one', cappedKeyId: null, simulated: false };
const free = (nano: bigint) => ({ freeNano: nano, realNano: nano });

/** In a process whose leases have ended. */
const allowance = () => new Allowance(new LeaseBook(), { lives: () => false }, limits);

describe('the allowance of a process (contract: money/outage-allowance)', () => {
  it('is divided by the most processes of the last hour: after an outage they come back one by one', () => {
    const one = allowance();
    one.learn('one', free(9_000n), 3, 0);
    one.failed(0);
    one.answered();
    one.learn('one', free(9_000n), 1, 1_000);
    one.failed(1_000);
    expect(one.lacks(payer, 300n, 1_000)).toBeNull();
    expect(one.lacks(payer, 301n, 1_000)).toMatch(/what this process may admit/);
    one.answered();
    one.learn('one', free(9_000n), 1, 3_700_000);
    one.failed(3_700_000);
    expect(one.lacks(payer, 900n, 3_700_000)).toBeNull();
  });

  it('is all there again once everything is given back', () => {
    const one = allowance();
    one.learn('one', free(600n), 1, 0);
    one.failed(0);
    one.use(payer, 600n);
    expect(one.lacks(payer, 1n, 0)).toMatch(/what this workspace may spend/);
    one.use(payer, -600n);
    expect(one.lacks(payer, 600n, 0)).toBeNull();
  });

  it('knows nothing of what lies an hour back, and nothing after an outage', () => {
    const one = allowance();
    one.learn('one', free(600n), 1, 0);
    one.sweep(3_600_000);
    one.failed(3_600_000);
    expect(one.lacks(payer, 1n, 3_600_000)).toMatch(/used up or not known/);
    one.learn('one', free(600n), 1, 3_600_000);
    one.answered();
    one.failed(3_600_001);
    expect(one.lacks(payer, 1n, 3_600_001)).toMatch(/used up or not known/);
  });
});
