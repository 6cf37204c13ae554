import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type StoreState, storeKeys, works } from '#tests/support/object-store/control';

/** A store that speaks S3, in its own process. */
export interface ObjectStoreProcess {
  /** Settings of a gateway that keeps its content there. */
  readonly env: Readonly<Record<string, string>>;
  /** Requests since the last `set`: "PUT /bucket/key". */
  readonly seen: string[];
  /** Resets how it behaves, but for what is given. */
  set(state?: Partial<StoreState>): Promise<void>;
  /** All objects by their keys. */
  objects(): Promise<ReadonlyMap<string, Buffer>>;
  /** Ends it: connections are refused from then on. */
  close(): void;
}

const program = fileURLToPath(new URL('./process.ts', import.meta.url));

/** @param port 0: any. */
export async function startObjectStore(port = 0): Promise<ObjectStoreProcess> {
  const child = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const seen: string[] = [];
  child.on('message', (told: { seen?: string }) => {
    if (told.seen) seen.push(told.seen);
  });
  const answer = <R>(name: string) =>
    new Promise<R>((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`the object store ended (exit ${code})`));
      child.once('exit', ended);
      const listen = (told: Readonly<Record<string, unknown>>) => {
        if (told[name] === undefined) return;
        child.off('message', listen).off('exit', ended);
        resolve(told[name] as R);
      };
      child.on('message', listen);
    });
  const listens = answer<number>('port');
  child.send({ port });
  return {
    env: {
      CONTENT_STORE: `s3://${storeKeys.bucket}/of/gateway`,
      CONTENT_STORE_ENDPOINT: `http://127.0.0.1:${await listens}`,
      AWS_ACCESS_KEY_ID: storeKeys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: storeKeys.secretAccessKey,
    },
    seen,
    set: async (state = {}) => {
      const done = answer('done');
      child.send({ state: { ...works, ...state } });
      await done;
      seen.length = 0;
    },
    objects: async () => {
      const listed = answer<[string, string][]>('objects');
      child.send({ list: 1 });
      return new Map((await listed).map(([name, bytes]) => [name, Buffer.from(bytes, 'base64')]));
    },
    close: () => child.kill(),
  };
}
