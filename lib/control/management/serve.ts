import { Denied, errorAnswer, type HttpAnswer, json } from '#lib/control/management/answer';
import { openApiOf } from '#lib/control/management/document/document';
import { readInput } from '#lib/control/management/input';
import { requestsPerMinute } from '#lib/control/management/limits';
import type { Pace } from '#lib/control/management/pace';
import { refuseApiKey, routesOf } from '#lib/control/management/routes';
import type { ApiKeyActor, ManagementKeyActor } from '#lib/control/operations/actor';
import type { HttpBinding, Operation } from '#lib/control/operations/declare';
import { findManagementKey } from '#lib/control/operations/management-key/authenticate';
import { operations } from '#lib/control/operations/operations';
import { badInput, ControlRefused } from '#lib/control/operations/refusal';
import { type ControlHost, runAny } from '#lib/control/operations/run';
import { refusal } from '#lib/core/errors';
import { checkKey } from '#lib/gateway/admission/pure/decide';
import { loadKey } from '#lib/gateway/snapshot/load';
import type { Ids } from '#lib/platform/ids';
import { hashKey, isWellFormedKey, isWellFormedManagementKey } from '#lib/platform/secrets';

/** A request, whichever server received it. */
export interface Arrival {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Where it came from, for the audit trail. */
  readonly address: string | null;
  /** The body as text; at most 1 MiB. @throws Denied (invalid_body). */
  readBody(): Promise<string>;
}

/** What the management API needs of the process. */
export interface ManagementHost {
  readonly control: ControlHost;
  readonly pace: Pace;
  /** Of answers and, in the form of `noid-…`, for a clock that is far off. */
  readonly ids: Ids;
  /** Unexpected errors, with the id of the answer. */
  report(error: unknown, id: string): void;
}

const match = routesOf(operations);
/** Where clients of the families send an API key. */
const apiKeyHeaders = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'] as const;
let document: string | null = null;

/** Whether a request target belongs to the management API. */
export function isManagementTarget(target: string): boolean {
  return /^\/api\/v1(?:[/?]|$)/.test(target);
}

/** Answers one request for `/api/v1`: address, credential, pace, input, operation. */
export async function serveManagement(host: ManagementHost, arrival: Arrival): Promise<HttpAnswer> {
  const known = host.ids.newId();
  const id = known ?? host.ids.fallbackId();
  const answered = known === null ? Promise.reject(clockIsOff()) : answerOf(host, arrival);
  const answer = await answered.catch((error: unknown) =>
    errorAnswer(error, (unforeseen) => host.report(unforeseen, id)),
  );
  const headers = {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-request-id': id,
    'request-id': id,
    ...answer.headers,
  };
  return { ...answer, headers };
}

async function answerOf(host: ManagementHost, arrival: Arrival): Promise<HttpAnswer> {
  const [path = '', query = ''] = arrival.target.slice('/api/v1'.length).split(/\?(.*)/s);
  if (path === '/openapi.json') return documentAnswer(arrival.method);
  const apiKey = presentedApiKey(arrival.headers);
  if (apiKey !== null && !takesApiKeys(arrival.method, path)) throw refuseApiKey(match, arrival.method, path);
  const { operation, binding, named } = match(arrival.method, path);
  const { actor, secret } =
    apiKey === null
      ? await authenticate(host, arrival)
      : { actor: await authenticateApiKey(host, apiKey, arrival.address), secret: apiKey };
  const waitSeconds = host.pace.claim(actor.keyId, Date.now());
  if (waitSeconds > 0) throw tooFast(waitSeconds);
  const { workspace, ...rest } = named;
  const { output, etag } = await runAny(host.control, operation, {
    actor,
    workspace,
    input: await readInput(operation, binding, { named: rest, query }, arrival),
    ifMatch: operation.kind === 'read' ? undefined : arrival.headers['if-match'],
    // Stored answers belong to management keys; what API keys may do can be repeated.
    once: apiKey === null ? onceOf(operation, arrival, { keyId: actor.keyId, secret }) : undefined,
  }).catch((error: unknown) => {
    throw withinBody(error, binding);
  });
  return json(operation.kind === 'create' ? 201 : 200, output, etag === null ? {} : { etag });
}

/** The description of the API; it needs no credential. */
function documentAnswer(method: string): HttpAnswer {
  if (method !== 'GET') {
    throw new Denied(refusal('method_not_allowed', 'This endpoint accepts only GET.', { allow: 'GET' }));
  }
  document ??= JSON.stringify(openApiOf(operations));
  return { status: 200, headers: {}, body: document };
}

/** The API key that the request sends; null: none, or a management key, which takes precedence in Authorization. */
function presentedApiKey(headers: Arrival['headers']): string | null {
  const sent = apiKeyHeaders.map((name) => headers[name]?.replace(/^bearer[ \t]+/i, '').trim() ?? '');
  return isWellFormedManagementKey(sent[0] ?? '') ? null : (sent.find(isWellFormedKey) ?? null);
}

/** Whether an API key may be used at this address. */
function takesApiKeys(method: string, path: string): boolean {
  try {
    return match(method, path).operation.apiKeys === true;
  } catch {
    return false;
  }
}

/** @throws Denied as a call with this key would be refused, except for its quota: feedback costs nothing. */
async function authenticateApiKey(
  { control: { db, keyPepper } }: ManagementHost,
  secret: string,
  address: string | null,
): Promise<ApiKeyActor> {
  const snapshot = await loadKey(db.pool, hashKey(secret, keyPepper)).catch((error: unknown) => {
    const how = 'The API key could not be looked up; try again in a moment.';
    throw new Denied(refusal('auth_resolve_failed', how), error);
  });
  if (snapshot === null) throw new Denied(refusal('invalid_api_key', 'This API key does not exist here.'));
  const key = { ...snapshot.key, quotaExhausted: false };
  const refused = checkKey({ ...snapshot, key }, Date.now());
  if (refused !== null) throw new Denied(refused);
  return { kind: 'api-key', keyId: key.id, workspaceId: snapshot.workspace.id, address };
}

async function authenticate(
  host: ManagementHost,
  { headers, address }: Arrival,
): Promise<{ actor: ManagementKeyActor; secret: string }> {
  const { authorization } = headers;
  if (authorization === undefined) {
    const how = 'Send a management key as "Authorization: Bearer mgk_…".';
    throw new Denied(refusal('missing_platform_authorization', how));
  }
  const secret = /^bearer[ \t]+([^\s,]+)[ \t]*$/i.exec(authorization)?.[1] ?? '';
  const { db, keyPepper } = host.control;
  const actor = isWellFormedManagementKey(secret)
    ? await findManagementKey(db, secret, keyPepper, address).catch((error: unknown) => {
        const how = 'The management key could not be looked up; try again in a moment.';
        throw new Denied(refusal('auth_resolve_failed', how), error);
      })
    : null;
  if (actor === null) {
    const how = 'This is not an active management key; send one (mgk_…).';
    throw new Denied(refusal('invalid_api_key', how));
  }
  return { actor, secret };
}

/** If one field is the whole body, its parts are named without it. */
function withinBody(error: unknown, { body }: HttpBinding): unknown {
  if (!(error instanceof ControlRefused) || body === undefined || error.field === null) return error;
  if (error.field === body) return new ControlRefused(error.code, error.text);
  if (!error.field.startsWith(`${body}.`)) return error;
  return new ControlRefused(error.code, error.text, error.field.slice(body.length + 1));
}

function clockIsOff(): Denied {
  const message = 'The clock of this gateway is wrong; its operator must correct it.';
  return new Denied(refusal('identifier_generation_failed', message));
}

function tooFast(retryAfterSeconds: number): Denied {
  const message = `A key may send ${requestsPerMinute} requests a minute to the management API. Please retry in ${retryAfterSeconds}s.`;
  return new Denied(refusal('api_key_rpm_exceeded', message, { retryAfterSeconds }));
}

function onceOf(operation: Operation, { method, headers }: Arrival, key: { keyId: string; secret: string }) {
  const token = headers['idempotency-key'];
  if (token === undefined || operation.kind === 'read' || method !== 'POST') return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(token))
    throw badInput('Idempotency-Key', 'send 1 to 255 printable ASCII characters without spaces');
  return { ...key, token };
}
