import { parentPort } from 'node:worker_threads';
import { type MaskedSide, type Masker, type Masks, maskerOf } from '#lib/gateway/content/pure/masks/mask';

/** Content that is to be masked. */
export interface MaskTask {
  readonly masks: Masks;
  readonly request: MaskedSide;
  readonly answer: MaskedSide;
}
/** The masked texts; null: it cannot be done. */
export type MaskAnswer = Pick<MaskTask, 'request' | 'answer'> | null;

/** Compiled masks of the workspaces that were last asked for. */
const compiled = new Map<string, Masker>();
const mostCompiled = 100;

parentPort?.on('message', (task: MaskTask) => parentPort?.postMessage(answerOf(task)));

function answerOf({ masks, request, answer }: MaskTask): MaskAnswer {
  try {
    const masker = maskerFor(masks);
    return { request: masker.mask(request, 'request'), answer: masker.mask(answer, 'answer') };
  } catch {
    return null;
  }
}

function maskerFor(masks: Masks): Masker {
  const name = JSON.stringify(masks);
  const masker = compiled.get(name) ?? maskerOf(masks);
  if (compiled.size >= mostCompiled) compiled.clear();
  compiled.set(name, masker);
  return masker;
}
