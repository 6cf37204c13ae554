import type { LimitStore, PermitAnswer, PermitRequest } from '#lib/gateway/limits/pure/permit-request';

/**
 * Has the store carry out a permit request, and waits at most `patienceMs` for its answer.
 * @param later runs `work` after `ms`, and returns what cancels it.
 * @throws when the store fails, or has not answered by then; whether it was carried out is then unknown.
 */
export function answerWithin(
  patienceMs: number,
  store: LimitStore,
  ask: PermitRequest,
  later: (ms: number, work: () => void) => () => void,
): Promise<PermitAnswer> {
  return new Promise((resolve, reject) => {
    // An answer that has arrived while the event loop was busy wins: it is read before an immediate runs.
    const cancel = later(patienceMs, () =>
      setImmediate(() => reject(new Error(`${store.name} has not answered within ${patienceMs} ms`))),
    );
    store.carryOut(ask).then(resolve, reject).finally(cancel);
  });
}
