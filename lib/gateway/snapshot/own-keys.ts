import type { Pool } from 'pg';
import {
  type CredentialFacts,
  type OwnKey,
  type OwnUse,
  ownKeyName,
  ownUses,
} from '#lib/core/facts/credential';
import type { OwnKeyRules } from '#lib/core/facts/own-key-rules';
import { isPrivateAddress } from '#lib/gateway/upstream/address-guard';
import { queryWithin } from '#lib/platform/data/query-within';
import { open, ownKeyContext, type SealingKey } from '#lib/platform/sealing';

/** A row of `own_key` as the statements below give it. */
export interface OwnKeyRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly providerId: string;
  readonly secret: string;
  readonly use: string;
  readonly models: readonly string[];
  readonly address: string | null;
}

/** The columns of a row of `own_key` under the name `o`, as one JSON object. */
export const ownKeyJson = `jsonb_build_object('id', o.id, 'workspaceId', o.workspace_id, 'providerId', o.provider_id,
  'secret', o.secret, 'use', o.use, 'models', o.models, 'address', o.address)`;

/** What reading own keys depends on. */
export interface OwnKeySources {
  readonly rules: OwnKeyRules;
  /** null: none can be opened. */
  readonly sealingKey: SealingKey | null;
  readonly report?: (error: unknown) => void;
}

/**
 * A stored own key. One that cannot be used keeps its place: if it is to be used `only`, its models are not called by
 * the operator's credentials instead (contract: own-keys/use).
 */
export function ownKeyOf(row: OwnKeyRow, sources: OwnKeySources): OwnKey {
  const { providerId, models } = row;
  // An unknown word costs least: no other credential.
  const use = ownUses.find((known) => known === row.use) ?? 'only';
  return {
    providerId,
    use,
    models: models.length > 0 ? new Set(models) : null,
    credential: credentialOf(row, use, sources),
  };
}

function credentialOf(row: OwnKeyRow, use: OwnUse, sources: OwnKeySources): CredentialFacts | null {
  const { rules, sealingKey, report } = sources;
  if (!rules.allowed || sealingKey === null) return null;
  if (row.address !== null && !rules.addresses) return null;
  try {
    const address = row.address === null ? null : new URL(row.address);
    if (address && isPrivateAddress(address.hostname)) return null;
    return {
      name: ownKeyName(row.id),
      secret: open(row.secret, sealingKey, ownKeyContext(row.workspaceId, row.id)),
      weight: 1,
      priority: 1,
      models: row.models.length > 0 ? new Set(row.models) : null,
      own: { use, feePoints: rules.feePoints, address },
    };
  } catch (error) {
    report?.(error);
    return null;
  }
}

/**
 * The own key of that name (`ownKeyName`), for what it made; null: the workspace has it no more.
 * @throws when the database cannot be asked.
 */
export async function loadOwnKey(
  pool: Pool,
  { workspaceId, name }: { readonly workspaceId: string; readonly name: string },
  sources: OwnKeySources,
): Promise<OwnKey | null> {
  const { rows } = await queryWithin(pool, 2_000)<{ key: OwnKeyRow }>(
    `SELECT ${ownKeyJson} AS key FROM own_key o WHERE o.workspace_id = $1::uuid AND 'own:' || o.id = $2
       AND o.secret IS NOT NULL`,
    [workspaceId, name],
  );
  return rows[0] ? ownKeyOf(rows[0].key, sources) : null;
}
