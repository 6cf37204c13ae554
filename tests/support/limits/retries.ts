import type { Claim } from '#lib/gateway/admission/claim';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import { snapshotOf } from '#tests/support/admission';
import { admitted, mostInAnyMinute, startMember } from '#tests/support/limits/fleet';
import { random } from '#tests/support/limits/matrix';
import { Simulation } from '#tests/support/limits/simulation';

export interface Retried {
  /** Single retries, exactly when `Retry-After` said. */
  readonly retries: number;
  readonly admitted: number;
  /** The most requests above its limit in any minute, over all keys; 0 or less is correct. */
  readonly overRequests: number;
}

/**
 * Calls keys with random limits at random processes until one call is refused; then nothing happens except
 * one retry at another process, after `Retry-After`.
 */
export async function retryAlone(
  keys: number,
  open: (simulation: Simulation) => LimitStore,
  { seed = 1, processes = 3, roundTripMs = 2 } = {},
): Promise<Retried> {
  const simulation = new Simulation();
  const clock = { now: () => simulation.nowMs, mono: () => simulation.nowMs };
  const store = simulation.seen(open(simulation), roundTripMs);
  const members = Array.from({ length: processes }, (_, rank) =>
    startMember(store, { processes, rank }, simulation, clock, 1_000),
  );
  const next = random(seed);
  const pick = (most: number) => Math.floor(next() * most);
  const seen = { retries: 0, admitted: 0, overRequests: Number.NEGATIVE_INFINITY };
  const maybe = (most: number) => (next() < 0.4 ? null : 1 + pick(most));
  for (let key = 0; key < keys; key++) {
    const most = { rpm: 1 + pick(40), tpm: maybe(5_000), concurrency: null };
    const snapshot = snapshotOf({
      limits: next() < 0.8 ? most : { ...most, rpm: null },
      workspaceLimits: { rpm: maybe(60), tpm: maybe(8_000) },
    });
    const largest = Math.min(...[snapshot.key, snapshot.workspace].map(({ limits }) => limits.tpm ?? 5_000));
    const passed: { atMs: number }[] = [];
    const everyMs = 50 + pick(3_000);
    let refused = false;
    let asking = 0;
    const claim = (tokens: number) =>
      members[pick(processes)]?.claim(snapshot, { need: 'generate', tokens }) ?? Promise.reject(new Error());
    const ends = (answer: Claim, tokens: number) => {
      const member = members.find(({ holds }) => holds(answer.callId));
      // It used less, more, or the estimate; but not more if it ends after the refusal was decided.
      const actual = next() < 0.3 ? null : Math.floor(tokens * next() * 1.3);
      simulation.later(pick(400), () =>
        member?.end(answer, {
          tokens: (refused || asking > 0) && actual !== null ? Math.min(actual, tokens) : actual,
        }),
      );
    };
    const step = (): void => {
      if (refused) return;
      const tokens = 1 + pick(largest);
      asking++;
      void claim(tokens).then((answer) => {
        asking--;
        if (admitted(answer)) {
          passed.push({ atMs: simulation.nowMs });
          ends(answer, tokens);
        } else if (!refused) {
          refused = true;
          const waitMs = (answer.retryAfterSeconds ?? 0) * 1000;
          // Running calls end and are reported first: nothing else may happen while the retry waits.
          simulation.later(waitMs, () => {
            seen.retries++;
            void claim(tokens).then((late) => {
              if (admitted(late)) seen.admitted++;
              else if (process.env.SHOW) {
                const { limits } = snapshot.key;
                const about = { limits, workspace: snapshot.workspace.limits, tokens, answer, late };
                process.stdout.write(`#${JSON.stringify(about)}\n`);
              }
            });
          });
        }
      });
      simulation.later(everyMs * next() * 2, step);
    };
    simulation.later(pick(20_000), step);
    simulation.at(simulation.nowMs + 240_000, () => {
      const ofKey = snapshot.key.limits.rpm;
      const rpm = Math.min(ofKey ?? 1e9, snapshot.workspace.limits.rpm ?? 1e9);
      seen.overRequests = Math.max(seen.overRequests, mostInAnyMinute(passed) - rpm);
    });
  }
  await simulation.run(simulation.nowMs + 240_001);
  return seen;
}
