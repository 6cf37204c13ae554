import { z } from 'zod';
import { environmentWith, takeVariable } from '#lib/platform/env/env';

const name = 'MODEL_GATEWAY_WORKER';

const workerSettings = z.object({
  /** From 1 on; a worker that replaces a dead one has its number. */
  number: z.int().positive(),
  /** The owner of its journal and leases. */
  ownerId: z.uuid(),
  /** Whether it does what happens once at the start of a machine. */
  first: z.boolean(),
  /** The embedded database's address, or DATABASE_URL. */
  databaseUrl: z.string().min(1),
  /** What the simulated provider of this machine adds to the environment. */
  secrets: z.array(z.tuple([z.string(), z.string()])),
  /** Secrets that verify sessions; the first one signs them. */
  authSecrets: z.array(z.string()),
});

/** What the primary process gives to a worker at its start. */
export type WorkerSettings = z.infer<typeof workerSettings>;

/** The environment of a worker. */
export function environmentOf(settings: WorkerSettings): NodeJS.ProcessEnv {
  return environmentWith({ [name]: JSON.stringify(settings) });
}

/**
 * The settings of this process.
 * @returns null if this process is not a worker.
 * @throws ZodError when they are not the primary's.
 */
export function readWorkerSettings(): WorkerSettings | null {
  const text = takeVariable(name);
  return text === undefined ? null : workerSettings.parse(JSON.parse(text));
}
