import { type ChildProcess, fork } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type CloudRequest, type CloudState, calm, cloudKeys } from '#tests/support/clouds/control';

export { cloudKeys } from '#tests/support/clouds/control';

/** The stand-ins of the clouds, in a process of their own. */
export interface Clouds {
  readonly url: string;
  /** The JSON key of a service account that they know. */
  readonly serviceAccount: string;
  /** A token of a workload in the cluster that the clouds trust. @param seconds how long it is valid. */
  workloadToken(cloud: keyof typeof cloudKeys.cluster.audiences, seconds?: number): string;
  /** Requests since the last `set`. */
  readonly seen: CloudRequest[];
  /** Resets the state, but for what is given. */
  set(state?: Partial<CloudState>): Promise<void>;
  close(): void;
}

const program = fileURLToPath(new URL('./process.ts', import.meta.url));

export async function startClouds(): Promise<Clouds> {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const cluster = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' });
  const child: ChildProcess = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const seen: CloudRequest[] = [];
  child.on('message', (told: { seen?: CloudRequest }) => {
    if (told.seen) seen.push(told.seen);
  });
  const answer = <Name extends string>(name: Name) =>
    new Promise<number>((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`the clouds' stand-in ended (exit ${code})`));
      child.once('exit', ended);
      const listen = (told: Partial<Record<string, unknown>>) => {
        if (typeof told[name] !== 'number') return;
        child.off('message', listen).off('exit', ended);
        resolve(told[name]);
      };
      child.on('message', listen);
    });
  const port = answer('port');
  const publicKeys = { serviceAccount: pem(pair.publicKey), cluster: pem(cluster.publicKey) };
  child.send({ publicKeys, port: 0 });
  const url = `http://127.0.0.1:${await port}`;
  const account = {
    type: 'service_account',
    project_id: 'p',
    private_key_id: 'k1',
    private_key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: cloudKeys.email,
    token_uri: `${url}/google/token`,
  };
  let count = 0;
  return {
    url,
    serviceAccount: JSON.stringify(account),
    workloadToken: (cloud, seconds = 3_600) => {
      const { issuer: iss, subject: sub, audiences } = cloudKeys.cluster;
      const iat = Math.floor(Date.now() / 1000);
      const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
      const head = part({ alg: 'RS256', typ: 'JWT', kid: 'c1' });
      const body = `${head}.${part({ iss, sub, aud: audiences[cloud], iat, exp: iat + seconds })}`;
      return `${body}.${sign('RSA-SHA256', Buffer.from(body), cluster.privateKey).toString('base64url')}`;
    },
    seen,
    set: async (state = {}) => {
      count += 1;
      const done = answer('done');
      child.send({ state: { ...calm, ...state }, done: count });
      await done;
      seen.length = 0;
    },
    close: () => child.kill(),
  };
}
