import type { CloudKey } from '#lib/core/facts/cloud-key';
import type { CredentialFacts } from '#lib/core/facts/credential';
import type { Catalogue, ProviderFacts } from '#lib/core/facts/snapshot';
import type { Auth } from '#lib/core/schemas/catalogue';
import { type AwsKeys, openAws, type Signable, scopeOf, signed } from '#lib/gateway/clouds/aws';
import { openEntra } from '#lib/gateway/clouds/entra';
import { openGoogle } from '#lib/gateway/clouds/google';
import { machineSecrets } from '#lib/gateway/clouds/machine-secrets';
import { type NoAccess, noAccess } from '#lib/gateway/clouds/no-access';
import { type Lasting, Renewed } from '#lib/gateway/clouds/renewed';
import { sendOver } from '#lib/gateway/clouds/send';
import { ServerClocks } from '#lib/gateway/clouds/server-clocks';
import type { Pools } from '#lib/gateway/upstream/pools';
import type { Clock } from '#lib/platform/clock';

/** A credential of a cloud, ready for one request. */
export interface OpenAccess {
  /** As it is sent: its secret is the token, or what must be masked if an answer repeats it. */
  readonly credential: CredentialFacts;
  /** Makes the headers of a signed request, as a flat list; null: the credential is sent as it is. */
  readonly sign: ((request: Omit<Signable, 'address'>) => Promise<string[]>) | null;
  /**
   * Learns from the headers of an answer that refused it.
   * @returns whether the time in its signature was wrong, so that the request may be sent again.
   */
  refused(date: string): boolean;
}

/** Tokens and keys of clouds in this process (contract: families/cloud-credentials). */
export interface Access {
  /**
   * @param address where the request is going.
   * @returns a promise only while there is no token or key yet; it rejects with NoAccess.
   */
  open(provider: ProviderFacts, credential: CredentialFacts, address: URL): OpenAccess | Promise<OpenAccess>;
  stop(): void;
}

/** Of a process without any cloud: each credential is sent as it is. */
export const noClouds: Access = {
  open: (_provider, credential) => ({ credential, sign: null, refused: () => false }),
  stop: () => {},
};

interface AccessParts {
  readonly clock: Clock;
  readonly pools: Pools;
  catalogue(): Catalogue;
  /** The value of an environment variable; null: unset. */
  variable(name: string): string | null;
  /** The log of the process. */
  warn(fields: object, message: string): void;
}

interface Kept {
  readonly secret: string;
  readonly auth: string;
  readonly renewed: Renewed<string | AwsKeys>;
}

/** Opens credentials of clouds; libraries are loaded with the first one that needs them. */
export function createAccess(parts: AccessParts): Access {
  const { clock, pools, catalogue, variable, warn } = parts;
  const clocks = new ServerClocks(clock);
  const send = sendOver(pools, (origin, date) => clocks.seen(origin, date));
  const kept = new Map<string, Kept>();

  async function opener(cloud: CloudKey, auth: Auth, host: string): Promise<Fetch> {
    if (cloud.kind === 'google-service-account') return openGoogle(cloud.key, { send, clocks });
    if (cloud.kind === 'aws-sigv4' && auth.kind === cloud.kind) {
      return openAws(cloud.key, scopeOf(auth, host).region);
    }
    if (cloud.kind === 'entra-id' && auth.kind === cloud.kind) {
      return openEntra(cloud.key, auth, { send, variable });
    }
    throw new Error(`a credential of the kind ${cloud.kind} at a provider of the kind ${auth.kind}`);
  }

  function renewedOf(
    { id, auth }: Pick<ProviderFacts, 'id'> & { readonly auth: Auth },
    { name, secret, cloud }: CredentialFacts & { readonly cloud: CloudKey },
    host: string,
  ): Kept['renewed'] {
    const place = `${id} ${name}`;
    const form = JSON.stringify(auth);
    const known = kept.get(place);
    if (known?.secret === secret && known.auth === form) return known.renewed;
    known?.renewed.stop();
    let fetch: Promise<Fetch> | null = null;
    const renewed = new Renewed<string | AwsKeys>({
      clock,
      fetch: async () => {
        fetch ??= opener(cloud, auth, host);
        try {
          return await (await fetch)();
        } catch (error) {
          throw noAccess(error, [...secretsOf(cloud), ...(await machineSecrets(cloud, variable))]);
        }
      },
      wanted: () => {
        const provider = catalogue().providers.get(id);
        const wanted = [...(provider?.credentials ?? []), ...(provider?.withdrawn ?? [])].some(
          (one) => one.name === name && one.secret === secret,
        );
        if (!wanted) kept.delete(place);
        return wanted;
      },
      told: (error) => {
        const fields = { provider: id, credential: name };
        if (error === null) warn(fields, 'a credential gets tokens again');
        else {
          const reason = (error as NoAccess).message;
          warn({ ...fields, reason }, 'a credential gets no token: check it, and that its issuer answers');
        }
      },
    });
    kept.set(place, { secret, auth: form, renewed });
    return renewed;
  }

  return {
    open: (provider, credential, address) => {
      const { id, auth } = provider;
      const { cloud, ...facts } = credential;
      if (!auth || !cloud) return { credential, sign: null, refused: () => false };
      const { origin, host } = address;
      const renewed = renewedOf({ id, auth }, { ...credential, cloud }, host);
      const ready = (value: string | AwsKeys): OpenAccess => {
        const refused = (date: string) => {
          const late = clocks.seen(origin, date);
          if (!late) renewed.refused(value);
          return late && typeof value !== 'string';
        };
        if (typeof value === 'string') {
          return { credential: { ...facts, secret: value, bearer: true }, sign: null, refused };
        }
        if (auth.kind !== 'aws-sigv4') throw new Error(`keys of AWS at a provider of the kind ${auth.kind}`);
        const secret = value.sessionToken ?? value.secretAccessKey;
        const scope = scopeOf(auth, host);
        return {
          credential: { ...credential, secret },
          sign: (request) => signed({ ...request, address }, value, { ...scope, atMs: clocks.now(origin) }),
          refused,
        };
      };
      const value = renewed.get();
      return value instanceof Promise ? value.then(ready) : ready(value);
    },
    stop: () => {
      for (const { renewed } of kept.values()) renewed.stop();
      kept.clear();
    },
  };
}

type Fetch = () => Promise<Lasting<string | AwsKeys>>;

/** The parts of a key that no message may repeat. */
function secretsOf({ key }: CloudKey): string[] {
  return Object.entries(key ?? {}).flatMap(([name, value]) =>
    typeof value === 'string' && /secret|private|token$/i.test(name) ? [value] : [],
  );
}
