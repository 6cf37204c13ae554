import { isUuid } from '#lib/control/field/kinds';
import type { Db } from '#lib/data/db';
import { formatUsd } from '#lib/money';

/** A workspace as "workspace show" prints it (operations.md). Money in dollars as decimal strings. */
export interface FoundWorkspace {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly timeZone: string;
  /** The ledger's sum. */
  readonly balance: string;
  /** The configured allowance on top. */
  readonly credit: string;
  /** What open calls and jobs hold; leased money is not held (decisions §6). */
  readonly held: string;
  /** balance + credit − held. */
  readonly available: string;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
  readonly strict: boolean;
  readonly suspended: boolean;
  readonly createdAt: string;
  readonly keys: readonly { id: string; name: string; status: string; display: string }[];
}

interface Row {
  id: string;
  slug: string;
  name: string;
  time_zone: string;
  balance_nano: string;
  credit_nano: string;
  held_nano: string;
  rpm: number | null;
  tpm: number | null;
  concurrency: number | null;
  strict: boolean;
  suspended_at: Date | null;
  created_at: Date;
  keys: FoundWorkspace['keys'];
}

const held = `(SELECT coalesce(sum(amount_nano), 0) FROM hold WHERE workspace_id = w.id)
  + (SELECT coalesce(sum(held_nano), 0) FROM lease WHERE kind = 'workspace' AND subject_id = w.id)`;

const select = `
  SELECT w.id, w.slug, w.name, w.time_zone, w.balance_nano, w.credit_nano, w.rpm, w.tpm, w.concurrency,
    w.strict, w.suspended_at, w.created_at,
    ${held} AS held_nano,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('id', k.id, 'name', k.name, 'status', k.status,
        'display', k.display_start || '…' || k.display_end) ORDER BY k.created_at, k.id), '[]')
      FROM api_key k WHERE k.workspace_id = w.id) AS keys
  FROM workspace w`;

/** What stands on every page of the console; without the keys, of which there may be thousands. */
export interface WorkspaceStanding {
  /** balance + credit − held, in dollars. */
  readonly available: string;
  readonly suspended: boolean;
}

/** @returns null when there is no such workspace. */
export async function findStanding(db: Db, workspaceId: string): Promise<WorkspaceStanding | null> {
  const { rows } = await db.pool.query<{ available_nano: string; suspended: boolean }>(
    `SELECT w.balance_nano + w.credit_nano - (${held}) AS available_nano, w.suspended_at IS NOT NULL AS suspended
     FROM workspace w WHERE w.id = $1`,
    [workspaceId],
  );
  const row = rows[0];
  return row ? { available: formatUsd(BigInt(row.available_nano)), suspended: row.suspended } : null;
}

/** @param workspace its slug or its id. @returns null when there is none. */
export async function findWorkspace(db: Db, workspace: string): Promise<FoundWorkspace | null> {
  const column = isUuid(workspace) ? 'id' : 'slug';
  const { rows } = await db.pool.query<Row>(`${select} WHERE w.${column} = $1`, [workspace]);
  return rows[0] === undefined ? null : shown(rows[0]);
}

function shown(row: Row): FoundWorkspace {
  const balanceNano = BigInt(row.balance_nano);
  const creditNano = BigInt(row.credit_nano);
  const heldNano = BigInt(row.held_nano);
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    timeZone: row.time_zone,
    balance: formatUsd(balanceNano),
    credit: formatUsd(creditNano),
    held: formatUsd(heldNano),
    available: formatUsd(balanceNano + creditNano - heldNano),
    rpm: row.rpm,
    tpm: row.tpm,
    concurrency: row.concurrency,
    strict: row.strict,
    suspended: row.suspended_at !== null,
    createdAt: row.created_at.toISOString(),
    keys: row.keys,
  };
}
