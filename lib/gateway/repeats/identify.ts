import { createHmac } from 'node:crypto';
import type { Wish } from '#lib/gateway/repeats/pure/wish';

/** What identifies a request (contract: repeats/idempotency, repeats/cacheable). */
export interface RequestFacts {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly operation: string;
  /** Path without the query. */
  readonly path: string;
  /** The query as sent; a credential in it is left out here. */
  readonly query: string;
  readonly body: Uint8Array;
  /** The model as its name was resolved, and those that the name gives as fallbacks. */
  readonly model: string;
  readonly chain: readonly string[];
  /** The models that the key may call, null for all, and its maximum of output tokens. */
  readonly scope: readonly string[] | null;
  readonly maxOutputTokens: number | null;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Two digests, 32 bytes each. */
export interface Identity {
  /** Under which the answer is kept. */
  readonly name: Buffer;
  /** Of the request. */
  readonly request: Buffer;
}

/** Request headers that may change an answer. */
const telling = [
  'accept',
  'anthropic-version',
  'anthropic-beta',
  'openai-beta',
  'x-translate',
  'x-no-fallback',
];

/**
 * The digests by which a kept answer is found. They are keyed, so that no prompt can be guessed from them.
 * @param secret of the gateway; the same in all processes of a fleet.
 */
export function identify(secret: string, wish: Wish, facts: RequestFacts): Identity {
  const query = queryOf(facts.query);
  if (wish.kind === 'repeat') {
    return {
      name: digest(secret, ['repeat', facts.workspaceId, facts.keyId, wish.token]),
      request: digest(secret, [facts.operation, facts.path, query], facts.body),
    };
  }
  const { workspaceId, operation, path, model, chain, maxOutputTokens } = facts;
  const scope = facts.scope === null ? null : [...facts.scope].sort();
  const headers = telling.map((name) => facts.headers[name] ?? null);
  const parts = ['cache', workspaceId, operation, path, query, model, chain, scope, maxOutputTokens, headers];
  const name = digest(secret, parts, facts.body);
  return { name, request: name };
}

function digest(secret: string, parts: readonly unknown[], body: Uint8Array = new Uint8Array()): Buffer {
  return createHmac('sha256', secret)
    .update(`${JSON.stringify(parts)}\n`)
    .update(body)
    .digest();
}

function queryOf(query: string): string {
  const names = new URLSearchParams(query);
  names.delete('key');
  return names.toString();
}
