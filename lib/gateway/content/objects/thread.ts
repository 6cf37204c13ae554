import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '#lib/core/errors';
import { ObjectStore } from '#lib/gateway/content/objects/object-store';
import type { StoreSettings } from '#lib/gateway/content/objects/settings';

export type ObjectWork =
  | { readonly kind: 'put'; readonly name: string; readonly bytes: Uint8Array }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'check' };
export interface ObjectTask {
  readonly id: number;
  readonly work: ObjectWork;
}
/** How it ended; `problem` null: it is done. */
export interface ObjectAnswer {
  readonly id: number;
  readonly problem: string | null;
}

const store = new ObjectStore(workerData as StoreSettings);

parentPort?.on('message', async ({ id, work }: ObjectTask) => {
  const problem = await done(work).then(
    (advice) => advice,
    (error: unknown) => messageOf(error),
  );
  const answer: ObjectAnswer = { id, problem };
  parentPort?.postMessage(answer);
});

async function done(work: ObjectWork): Promise<string | null> {
  if (work.kind === 'check') return store.check();
  await (work.kind === 'put' ? store.put(work.name, work.bytes) : store.remove(work.name));
  return null;
}
