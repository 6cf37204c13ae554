import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportedNano, wellAnswered } from '#tests/gateway/after-headers/dialects';
import { type Kind, kinds } from '#tests/gateway/after-headers/kinds';
import { offerAll } from '#tests/gateway/after-headers/offers';
import { type Servants, startServants } from '#tests/gateway/after-headers/provider';
import { askAs, type Speaker } from '#tests/gateway/contract/speaker';
import { speakers } from '#tests/gateway/contract/speakers/index';
import { closeBalanced } from '#tests/support/books';
import type { Asked } from '#tests/support/chat-call';
import { seed } from '#tests/support/run/draws';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

const calls = 1_000;
/** From this call on the first provider answers nothing well. */
const turnsBad = 300;
const model = 'after-headers/day';
const places = ['day-first', 'day-second', 'day-third'] as const;
const ofText = speakers.filter(({ family }) => family !== 'images');

/** What a call is to be: how it is asked, and what each provider does with it, should it be asked; null: its work. */
interface Turn {
  readonly speaker: Speaker;
  readonly does: readonly (Kind | null)[];
}

const drawn = { seed: seed + 32, numRuns: calls };
const draws = fc.sample(
  fc.record({
    speaker: fc.constantFrom(...ofText),
    // One call in twelve fails at each of them.
    fails: fc.array(fc.integer({ min: 0, max: 11 }), { minLength: 3, maxLength: 3 }),
    how: fc.array(fc.nat(), { minLength: 3, maxLength: 3 }),
  }),
  drawn,
);
const turns: readonly Turn[] = draws.map(({ speaker, fails, how }, at) => {
  const fitting = kinds.filter(({ when, clientsFault }) => !clientsFault && (!when || when(speaker)));
  const does = places.map((_, place) => {
    const bad = fails[place] === 0 || (place === 0 && at >= turnsBad);
    return bad ? (fitting[(how[place] ?? 0) % fitting.length] ?? null) : null;
  });
  return { speaker, does };
});

describe('a day’s work of an agent, at three providers that fail behind their headers', () => {
  let servants: Servants;
  let stack: Stack;
  let key: string;
  /** The call that is made now. */
  let now = 0;
  beforeAll(async () => {
    servants = await startServants(places, (place) => {
      const turn = turns[now];
      if (!turn) throw new Error('the day is over');
      const { speaker, does } = turn;
      return { speaker, kind: does[place] ?? null };
    });
    stack = await joinStack();
    await offerAll(stack, servants.addresses, [model]);
    const { slug } = await stack.workspace({ credit: '1000' });
    key = (await stack.key(slug)).key;
  });
  afterAll(async () => {
    await closeBalanced(stack).finally(() => servants.close());
  });

  it('gives an error only where nobody could answer or something had been said, and leaves the bad one alone', async () => {
    const seen = { whole: 0, broken: 0, unanswered: 0, fallbacks: 0 };
    let failedThere = 0;
    let askedThere = 0;
    let nano = 0n;
    for (const [at, { speaker, does }] of turns.entries()) {
      now = at;
      const asked = await askAs(speaker, stack.url, key, { model });
      const order = servants.takeOrder();
      const done = order.map((place) => does[place] ?? null);
      const last = done.at(-1);
      // Nobody is asked behind an answer, or behind a word.
      for (const kind of done.slice(0, -1)) expect(kind?.says, `call ${at}`).toBeNull();
      seen.fallbacks += order.length - 1;
      if (last === null) {
        expectWhole(speaker, asked, at);
        seen.whole += 1;
        nano += reportedNano;
      } else if (last?.says) {
        expect(wellGiven(speaker, asked), `call ${at}`).toBe(false);
        seen.broken += 1;
      } else {
        expect(order.length, `call ${at}: nobody is left`).toBe(places.length);
        expect(wellGiven(speaker, asked), `call ${at}`).toBe(false);
        seen.unanswered += 1;
      }
      if (at < turnsBad) continue;
      askedThere += order.includes(0) ? 1 : 0;
      // Of those in a row.
      if (failedThere === 5) expect(order[0], `call ${at}: the bad one is set aside`).not.toBe(0);
      failedThere += order.includes(0) ? 1 : 0;
    }
    console.log(`a day: ${JSON.stringify({ ...seen, askedThere })}`);
    expect(seen.whole + seen.broken + seen.unanswered).toBe(calls);
    // Five, and now and then a probe.
    expect(askedThere).toBeGreaterThanOrEqual(5);
    expect(askedThere).toBeLessThan(30);
    expect(await paidFor(nano)).toBe(0n);
  });

  function expectWhole(speaker: Speaker, asked: Asked, at: number): void {
    expect([asked.answer.status, asked.answer.whole], `call ${at}`).toEqual([200, true]);
    const sent = wellAnswered(speaker, asked.mark);
    expect(asked.answer.body.toString(), `call ${at}`).toBe(speaker.relayed ? speaker.relayed(sent) : sent);
  }

  /** What the rows of whole answers were charged beside what they are worth. */
  async function paidFor(nano: bigint): Promise<bigint> {
    const text = `SELECT count(*)::int AS rows, coalesce(sum(cost_nano) FILTER (WHERE end_reason = 'completed'), 0)::text AS paid
      FROM call WHERE workspace_id = $1`;
    const [workspace] = stack.workspaces;
    await expect
      .poll(async () => (await stack.db.pool.query<{ rows: number }>(text, [workspace])).rows[0]?.rows)
      .toBe(calls);
    const { rows } = await stack.db.pool.query<{ paid: string }>(text, [workspace]);
    return BigInt(rows[0]?.paid ?? 0) - nano;
  }
});

/** Whether the client may take what it got for a whole answer. */
function wellGiven(speaker: Speaker, { answer, mark }: Asked): boolean {
  const sent = wellAnswered(speaker, mark);
  return answer.body.toString() === (speaker.relayed ? speaker.relayed(sent) : sent);
}
