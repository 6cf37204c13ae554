import { describe, expect, it } from 'vitest';
import { CredentialCounts, type CredentialUse } from '#lib/gateway/limits/credential-limits';

let nowMono = 0;
const clock = { now: () => 0, mono: () => nowMono };
const limitsOf = (rpm: number | null, tpm: number | null) => ({
  id: 'c',
  providerId: 'p',
  stored: { rpm, tpm, concurrency: null },
});

async function used(
  counts: CredentialCounts,
  limits: ReturnType<typeof limitsOf>,
  tokens: number | null = 10,
): Promise<CredentialUse> {
  const taken = await counts.take(limits, tokens);
  if ('waitMs' in taken) throw new Error(`at its limit for ${taken.waitMs} ms`);
  return taken;
}

describe('limits of a credential (contract: limits/credentials)', () => {
  it('bound the requests of any 60 s, and say how long to wait', async () => {
    const counts = new CredentialCounts(clock, null);
    const limits = limitsOf(2, null);
    await used(counts, limits);
    nowMono += 20_000;
    await used(counts, limits);
    expect(await counts.take(limits, 10)).toEqual({ waitMs: 40_000 });
    nowMono += 40_000;
    await used(counts, limits);
  });

  it('bound the tokens: the estimate counts until the attempt ends, then what was used', async () => {
    const counts = new CredentialCounts(clock, null);
    const limits = limitsOf(null, 100);
    const first = await used(counts, limits, 80);
    expect(await counts.take(limits, 30)).toMatchObject({ waitMs: expect.any(Number) });
    first.end(10);
    first.end(80);
    await used(counts, limits, 90);
    // A request to count tokens uses none.
    await used(counts, limits, null);
  });

  it('give back what was not sent, and apply as changed to what was counted before', async () => {
    const counts = new CredentialCounts(clock, null);
    const use = await used(counts, limitsOf(1, null));
    use.undo();
    await used(counts, limitsOf(1, null));
    expect(await counts.take(limitsOf(1, null), 10)).toHaveProperty('waitMs');
    await used(counts, limitsOf(2, null));
  });
});
