import { createHmac, hkdfSync } from 'node:crypto';
import { conflict } from '#lib/control/operations/refusal';
import { canonical } from '#lib/control/operations/state';
import type { Store } from '#lib/control/operations/store';
import { open, seal } from '#lib/platform/sealing';

/** A mutation that must run only once, however often it is sent (`Idempotency-Key`). */
export interface Once {
  /** The management key that sends it: the same token from another key is a different one. */
  readonly keyId: string;
  /** That key itself: answers are sealed under a key derived from it, and the server keeps only its hash. */
  readonly secret: string;
  /** The header's value. */
  readonly token: string;
}

/**
 * Claims a token inside the transaction of its mutation, so that both commit together. A second sender
 * waits here until the first has committed or failed.
 * @param request the request; the same token with another request is refused.
 * @returns the stored answer of the first request; null: this is the first.
 * @throws ControlRefused (conflict) for another request under the same token.
 */
export async function claim(store: Store, once: Once, request: unknown): Promise<unknown> {
  await store.execute(
    `DELETE FROM stored_answer WHERE management_key_id = $1::uuid AND token = $2
       AND created_at < now() - interval '24 hours'
     OR ctid = ANY (ARRAY(SELECT ctid FROM stored_answer
       WHERE created_at < now() - interval '24 hours' LIMIT 100 FOR UPDATE SKIP LOCKED))`,
    [once.keyId, once.token],
  );
  const print = printOf(once, request);
  const inserted = await store.execute(
    `INSERT INTO stored_answer (management_key_id, token, request, answer)
     VALUES ($1::uuid, $2, $3, '') ON CONFLICT DO NOTHING`,
    [once.keyId, once.token, print],
  );
  if (inserted === 1) return null;
  const [found] = await store.query<{ request: string; answer: string }>(
    'SELECT request, answer FROM stored_answer WHERE management_key_id = $1::uuid AND token = $2',
    [once.keyId, once.token],
  );
  if (found?.request !== print) {
    throw conflict('this Idempotency-Key was used for another request in the last 24 hours; use a new one');
  }
  return JSON.parse(open(found.answer, sealingKey(once), contextOf(once)));
}

/** Stores the sealed answer with the claim. */
export async function keep(store: Store, once: Once, answer: unknown): Promise<void> {
  await store.execute(
    'UPDATE stored_answer SET answer = $3 WHERE management_key_id = $1::uuid AND token = $2',
    [once.keyId, once.token, seal(JSON.stringify(answer), sealingKey(once), contextOf(once))],
  );
}

function sealingKey({ secret }: Once): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', 'stored answers of /api/v1', 32));
}

function contextOf({ keyId, token }: Once): string {
  return `stored-answer:${keyId}:${token}`;
}

/** Keyed, so that the stored hash reveals nothing about a password in the request. */
function printOf(once: Once, request: unknown): string {
  return createHmac('sha256', sealingKey(once)).update(canonical(request)).digest('base64url');
}
