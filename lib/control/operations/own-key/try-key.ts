import { randomBytes } from 'node:crypto';
import type { Context } from '#lib/control/operations/declare';
import { ownKeyProbe, type Probed, probe } from '#lib/control/operations/provider/probe';
import type { CredentialFacts } from '#lib/core/facts/credential';
import { type OwnKeyRow, ownKeyOf } from '#lib/gateway/snapshot/own-keys';
import { createPools } from '#lib/gateway/upstream/pools';
import { publish } from '#lib/platform/data/change';
import { transact } from '#lib/platform/data/transaction/transaction';

/** The value that is tested; of a key that waits for its test, that one. */
const find = `
  SELECT o.id, o.workspace_id AS "workspaceId", o.provider_id AS "providerId", coalesce(o.pending, o.secret) AS secret,
    o.use, coalesce(o.models, '{}') AS models, o.address
  FROM own_key o WHERE o.id = $1::uuid AND o.workspace_id = $2::uuid`;

/** Only the value that was tested comes into force: another one may have been given meanwhile. */
const conclude = `
  UPDATE own_key SET tested_at = now(), failure = $3,
    secret = CASE WHEN $3::text IS NULL AND pending = $2 THEN pending ELSE secret END,
    pending = CASE WHEN pending = $2 THEN NULL ELSE pending END
  WHERE id = $1::uuid AND coalesce(pending, secret) = $2`;

const limits = { lockMs: 3_000, statementMs: 5_000 };

/**
 * Tests an own key by the cheapest real call to its provider, which its owner pays there; one that waits for it comes
 * into force if it passes (contract: own-keys/an-own-key). Outside of any transaction; may be repeated.
 * @returns why it failed; null: it passed, or the key is gone.
 */
export async function tryKey(context: Context<'workspace'>, id: string): Promise<string | null> {
  const { pool, scope } = context;
  const { rows } = await pool.query<Omit<OwnKeyRow, 'secret'> & { readonly secret: string | null }>(find, [
    id,
    scope.workspaceId,
  ]);
  const [row] = rows;
  if (!row) return null;
  if (row.secret === null) return 'No key has passed its test yet; give a new one.';
  const failure = await failureOf(context, { ...row, secret: row.secret });
  await transact(pool, limits, async (client) => {
    await client.query(conclude, [id, row.secret, failure]);
    await publish(client, [{ kind: 'workspace', subject: scope.workspaceId }]);
  });
  return failure;
}

async function failureOf(context: Context<'workspace'>, row: OwnKeyRow): Promise<string | null> {
  const { ownKeys, sealingKey } = context;
  const { credential } = ownKeyOf(row, { rules: ownKeys, sealingKey });
  if (!credential) return 'It cannot be used here: the operator does not allow it, or it cannot be opened.';
  const outcome = await call(context, row.providerId, credential);
  if (outcome === null)
    return 'The provider has no priced model that generates text and that this key may serve, so it cannot be tested.';
  if (!outcome.ok) return shown(outcome);
  if (credential.own?.address) return null;
  // Whatever was given as a key, the operator's own server would answer at the price of an own key.
  const madeUp = { ...credential, secret: `sk-${randomBytes(24).toString('hex')}` };
  const other = await call(context, row.providerId, madeUp);
  return other?.ok ? 'The provider accepts any key, so that an own key is none.' : null;
}

/** null: there is no call to make. */
async function call(
  context: Context<'workspace'>,
  providerId: string,
  credential: CredentialFacts,
): Promise<Probed | null> {
  const found = ownKeyProbe(await context.catalogue(), providerId, credential, context.nowMs);
  if (!found) return null;
  if (context.pools) return probe(found, context);
  // Without connections of its own, an address that a workspace gave would not be checked.
  const pools = createPools();
  try {
    return await probe(found, { pools, access: context.access });
  } finally {
    await pools.close();
  }
}

function shown({ status, message }: Probed): string {
  const what = status === null ? 'No answer' : `The provider answered ${status}`;
  return `${what}: ${message ?? 'no reason given'}`;
}
