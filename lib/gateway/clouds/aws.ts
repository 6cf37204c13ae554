import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { CloudKey } from '#lib/core/facts/cloud-key';
import type { Auth } from '#lib/core/schemas/catalogue';
import type { Lasting } from '#lib/gateway/clouds/renewed';

type AwsKey = Extract<CloudKey, { kind: 'aws-sigv4' }>['key'];
type AwsAuth = Extract<Auth, { kind: 'aws-sigv4' }>;

/** Keys that sign. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Name of the gateway's sessions in AWS's audit trail. */
const SESSION = 'model-gateway';
/** Bytes of a body that are hashed in one turn of the event loop. */
const TURN_BYTES = 512 * 1024;

/** For the machine's own metadata: the library would wait 1 s and ask once, which is too little for a busy machine. */
const patience = { timeout: 3_000, maxRetries: 2 };

/** Gets keys of AWS: those that were given, those of the machine, or those of a role that either assumes. */
export async function openAws(key: AwsKey, region: string): Promise<() => Promise<Lasting<AwsKeys>>> {
  const { accessKeyId, secretAccessKey, sessionToken, role, externalId } = key ?? {};
  const given =
    accessKeyId !== undefined && secretAccessKey !== undefined
      ? { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
      : null;
  if (given && role === undefined) {
    return async () => ({ value: given, untilMs: Number.POSITIVE_INFINITY });
  }
  const { fromNodeProviderChain, fromTemporaryCredentials } = await import('@aws-sdk/credential-providers');
  const clientConfig = { region };
  const params = { RoleArn: role, RoleSessionName: SESSION, ...(externalId && { ExternalId: externalId }) };
  // Providers keep their keys, and would give the same again: each time, a new one is asked.
  const provider = () => {
    const chain = fromNodeProviderChain({ clientConfig, ...patience });
    if (role === undefined) return chain;
    return fromTemporaryCredentials({ clientConfig, masterCredentials: given ?? chain, params });
  };
  return async () => {
    const { expiration, accessKeyId, secretAccessKey, sessionToken } = await provider()();
    const value = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
    return { value, untilMs: expiration?.getTime() ?? Number.POSITIVE_INFINITY };
  };
}

/** Region and service that signatures name: as the catalogue says, else as the address does. */
export function scopeOf({ region, service }: AwsAuth, host: string): { region: string; service: string } {
  const [, named, place] = /^(bedrock[a-z-]*)\.([a-z]{2}(?:-[a-z]+)+-\d+)\./.exec(host) ?? [];
  return { region: region ?? place ?? 'us-east-1', service: service ?? serviceOf(named) };
}

function serviceOf(named: string | undefined): string {
  return named === 'bedrock-mantle' ? named : 'bedrock';
}

/** What is signed. */
export interface Signable {
  readonly method: string;
  readonly address: URL;
  /** Path and query as they are sent. */
  readonly path: string;
  readonly contentType: string | null;
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | null;
}

/**
 * Signs a request by Signature Version 4, its body included, which is read to its end.
 * @returns the headers that it needs, as a flat list.
 */
export async function signed(
  { method, address, path, contentType, body }: Signable,
  keys: AwsKeys,
  scope: { readonly region: string; readonly service: string; readonly atMs: number },
): Promise<string[]> {
  const { SignatureV4 } = await import('@smithy/signature-v4');
  const signer = new SignatureV4({ ...scope, credentials: keys, sha256: Sha256 });
  const [pathname = '/', search = ''] = path.split('?');
  const request = await signer.sign(
    {
      method,
      protocol: address.protocol,
      hostname: address.hostname,
      path: pathname,
      query: Object.fromEntries(new URLSearchParams(search)),
      headers: {
        host: address.host,
        ...(contentType !== null && { 'content-type': contentType }),
        'x-amz-content-sha256': await hashOf(body),
      },
    },
    { signingDate: new Date(scope.atMs) },
  );
  return Object.entries(request.headers)
    .filter(([name]) => name === 'authorization' || name.startsWith('x-amz-'))
    .flat();
}

async function hashOf(body: Signable['body']): Promise<string> {
  const hash = createHash('sha256');
  if (body instanceof Uint8Array) hash.update(body);
  else if (body !== null) {
    let turnBytes = 0;
    for await (const piece of body) {
      hash.update(piece);
      turnBytes += piece.length;
      if (turnBytes < TURN_BYTES) continue;
      turnBytes = 0;
      await setImmediate();
    }
  }
  return hash.digest('hex');
}

/** Node's hash in the form that the signer takes. */
class Sha256 {
  readonly #key: Uint8Array | string | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: unknown) {
    this.#key = typeof secret === 'string' || secret instanceof Uint8Array ? secret : undefined;
    this.#hash = this.#made();
  }

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#made();
  }

  #made(): Hash | Hmac {
    return this.#key === undefined ? createHash('sha256') : createHmac('sha256', this.#key);
  }
}
