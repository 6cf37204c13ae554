import { Collection, type ProviderMemory } from '#tools/sandbox/content/memory';
import type { Composition } from '#tools/sandbox/responses/compose';
import type { KeptItem } from '#tools/sandbox/responses/input';
import type { Behaviour } from '#tools/sandbox/scenario/behaviour';
import type { JobCourse } from '#tools/sandbox/scenario/job';

/** A response that the provider keeps for its account. */
export interface KeptResponse {
  readonly id: string;
  /** Name of the model that made it, as asked. */
  readonly model: string;
  /** The name by which it behaves: the prompt's, else the model's. */
  readonly asked: string;
  /** What every view of it repeats: the request's own fields. */
  readonly head: Readonly<Record<string, unknown>>;
  readonly composition: Composition;
  readonly behaviour: Behaviour;
  /** Of one that runs in the background; null: it was done when it was answered. */
  readonly course: JobCourse | null;
  /** Asked for as a stream: it may be read as one again. */
  readonly streamed: boolean;
  readonly inputItems: readonly KeptItem[];
  readonly transcript: string;
  /** What a response that continues it reads again: its own input and output. */
  readonly tokens: number;
  cancelledAtMs: number | null;
}

export const keptResponses = new Collection<KeptResponse>();
export const keptItems = new Collection<KeptItem>();
/** Encrypted reasoning that this account made, by its text. */
const seals = new Collection<true>();

/** Encrypts reasoning: nobody can read it, and only this server takes it back. */
export function seal(memory: ProviderMemory, id: string): string {
  const sealed = Buffer.from(`sealed reasoning of ${id}: ${'·'.repeat(120)}`).toString('base64');
  seals.put(memory, sealed, true);
  return sealed;
}

export function opens(memory: ProviderMemory, sealed: string): boolean {
  return seals.find(memory, sealed) === true;
}
