import { expect } from 'vitest';
import type { Booked, Provided } from '#tests/support/fleet/accounts';
import { keyUnresolved, type Told } from '#tests/support/fleet/client';

/** The results of the calls of a load during which processes were killed. */
export interface Judged {
  readonly calls: number;
  readonly answered: number;
  readonly refused: number;
  readonly cut: number;
  readonly interrupted: number;
  readonly unreached: number;
}

/**
 * Compares what clients received with the log and with what the provider saw: every answer has a row, every
 * complete answer is charged at its price, no call is in the log twice, and what the provider served is
 * charged or interrupted.
 */
export function judge(
  told: readonly Told[],
  booked: ReadonlyMap<string, readonly Booked[]>,
  provided: ReadonlyMap<string, readonly Provided[]>,
): Judged {
  const figures = { calls: told.length, answered: 0, refused: 0, cut: 0, interrupted: 0, unreached: 0 };
  for (const one of told) {
    const rows = booked.get(one.mark) ?? [];
    const requests = provided.get(one.mark) ?? [];
    expect(rows.length, `rows of ${one.mark}`).toBeLessThanOrEqual(1);
    const [row] = rows;
    if (row) expectFairEnd(row);
    if (one.status > 0 && !keyUnresolved(one)) expect(row?.id, `the row of an answer`).toBe(one.id);
    if (requests.length > 0) expect(row, `a row for what the provider saw of ${one.mark}`).toBeDefined();
    if (row?.endReason === 'interrupted') figures.interrupted += 1;
    if (!row) figures.unreached += 1;
    else if (row.errorCode && requests.length === 0) figures.refused += 1;
    else if (one.whole || one.text.includes('data: [DONE]')) {
      figures.answered += 1;
      expect(row.costNano, `the price of ${row.id}`).toBe(fairOf(row, requests));
    } else {
      figures.cut += 1;
    }
  }
  return figures;
}

/** A call that was cut costs at most its hold, and a refused one nothing. */
function expectFairEnd(row: Booked): void {
  if (row.endReason === 'interrupted') expect(row.costNano <= row.holdNano, row.id).toBe(true);
  if (row.endReason === 'refused') expect(row.costNano, row.id).toBe(0n);
}

/** What the provider would charge for the one answer that the client got. */
function fairOf(row: Booked, requests: readonly Provided[]): bigint {
  const answers = requests.filter((request) => row.upstreamIds.includes(request.id));
  expect(answers.length, `answers of the provider to ${row.id}`).toBe(1);
  return answers[0]?.end?.status === 200 ? answers[0].fairNano : 0n;
}
