import { createPublicKey, randomBytes, verify } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type CloudState, calm, cloudKeys } from '#tests/support/clouds/control';

/** What the stand-ins of the clouds know and have issued; all of it belongs to their own process. */
export const state: CloudState = { ...calm };

/** Public keys, PEM: of the service account, and of the cluster that issues tokens of workloads. */
export const publicKeys = { serviceAccount: '', cluster: '' };

/** Tokens by what they are for, with the end of their life in this process's time, ms. */
const tokens = new Map<string, { readonly use: string; readonly untilMs: number }>();

/** Keys of roles by their id. */
export const roleKeys = new Map<
  string,
  { readonly secret: string; readonly token: string; readonly untilMs: number }
>();

/** The time of the clouds, ms since the epoch. */
export const now = () => Date.now() + state.aheadMs;

export interface Asked {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly body: Buffer;
  readonly origin: string;
}

export interface Given {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: string | readonly Buffer[];
}

export const given = (status: number, body: object, headers: Record<string, string> = {}): Given => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

export function issued(use: string): string {
  const token = `${use}-token-${randomBytes(12).toString('hex')}`;
  tokens.set(token, { use, untilMs: now() + state.tokenSeconds * 1000 });
  return token;
}

export function bearerFor(request: IncomingMessage, use: string): boolean {
  const known = tokens.get((request.headers.authorization ?? '').slice('Bearer '.length));
  return known?.use === use && known.untilMs > now() && !state.revoked;
}

/** Keys of a role for a session that begins now. */
export function newRoleKeys() {
  const id = `ASIA${randomBytes(8).toString('hex').toUpperCase()}`;
  const [secret, token] = [
    `role-secret-${randomBytes(20).toString('hex')}`,
    `session-${randomBytes(20).toString('hex')}`,
  ];
  const untilMs = now() + state.tokenSeconds * 1000;
  roleKeys.set(id, { secret, token, untilMs });
  return { id, secret, token, expiration: new Date(untilMs).toISOString() };
}

/** How far the issuers of the clouds let the clock of a cluster be off, s. */
const LEEWAY_SECONDS = 300;

/** Why a token of a workload is not accepted; null: the cluster has signed it, for this audience, and it is valid. */
export function workloadFault(token: string, audience: string): string | null {
  if (state.unfederated) return 'no role trusts it';
  const [head = '', claims = '', signature = ''] = token.split('.');
  const key = createPublicKey(publicKeys.cluster);
  const signed = Buffer.from(`${head}.${claims}`);
  if (!verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url')))
    return 'its signature is not valid';
  if (JSON.parse(Buffer.from(head, 'base64url').toString()).alg !== 'RS256')
    return 'its algorithm is not RS256';
  const { iss, sub, aud, iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  if (iss !== cloudKeys.cluster.issuer || sub !== cloudKeys.cluster.subject)
    return 'it is of another workload';
  if (aud !== audience) return 'it is for another audience';
  const seconds = now() / 1000;
  if (exp < seconds - LEEWAY_SECONDS) return 'it has expired';
  return iat > seconds + LEEWAY_SECONDS ? 'it is of the future' : null;
}
