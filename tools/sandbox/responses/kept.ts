import { Collection, type ProviderMemory } from '#tools/sandbox/content/memory';
import type { Composition } from '#tools/sandbox/responses/compose';
import type { KeptItem } from '#tools/sandbox/responses/input';
import type { Behaviour } from '#tools/sandbox/scenario/behaviour';
import type { JobCourse } from '#tools/sandbox/scenario/job';

/** A response that the provider stores for its account. */
export interface KeptResponse {
  readonly id: string;
  /** Name of its model, as requested. */
  readonly model: string;
  /** The name that decides its behavior: the prompt's, otherwise the model's. */
  readonly asked: string;
  /** The fields of the request that every view repeats. */
  readonly head: Readonly<Record<string, unknown>>;
  readonly composition: Composition;
  readonly behaviour: Behaviour;
  /** If it runs in the background; null: it was done when it was answered. */
  readonly course: JobCourse | null;
  /** It was requested as a stream, so it may be read as one again. */
  readonly streamed: boolean;
  readonly inputItems: readonly KeptItem[];
  readonly transcript: string;
  /** Input and output together: a response that continues it reads both again. */
  readonly tokens: number;
  cancelledAtMs: number | null;
}

export const keptResponses = new Collection<KeptResponse>();
export const keptItems = new Collection<KeptItem>();
/** Encrypted reasoning of this account, by its text. */
const seals = new Collection<true>();

/** Encrypts reasoning: it cannot be read, and only this server accepts it again. */
export function seal(memory: ProviderMemory, id: string): string {
  const sealed = Buffer.from(`sealed reasoning of ${id}: ${'·'.repeat(120)}`).toString('base64');
  seals.put(memory, sealed, true);
  return sealed;
}

export function opens(memory: ProviderMemory, sealed: string): boolean {
  return seals.find(memory, sealed) === true;
}
