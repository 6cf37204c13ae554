import type { Pool } from 'pg';
import { meteredUsage } from '#lib/core/metering/anomaly';
import { countedTokens, noUsage, type Usage } from '#lib/core/metering/usage';
import { storedCostLines } from '#lib/gateway/settlement/record/stored-lines';
import { idFloor } from '#lib/platform/ids';

/** A call that was admitted lately, for the windows of RPM and TPM. */
export interface Admission {
  readonly callId: string;
  readonly workspaceId: string;
  readonly keyId: string;
  /** ms since the epoch. */
  readonly atMs: number;
  /** Tokens that TPM counts (contract: limits/tpm). */
  readonly tokens: number;
}

const windowMs = 60_000;
/** A call's id is older than its admission by the time that its body took to arrive. */
const slackMs = 10 * 60_000;

/**
 * Admitted calls of the last 60 s in the call log, oldest first. A clock that was set back has left calls
 * of the future: those of the next 60 s count as of now, those behind them do not.
 * @param estimates tokens by call id that count instead of the logged usage.
 */
export async function listRecentAdmissions(
  pool: Pool,
  nowMs: number,
  estimates: ReadonlyMap<string, number>,
): Promise<Admission[]> {
  const found = await pool.query<{
    id: string;
    workspace_id: string;
    key_id: string;
    at: Date;
    usage: Partial<Usage>;
    flags: string[] | null;
    lines: unknown;
  }>(
    `SELECT id, workspace_id, key_id, at, usage, flags,
       CASE WHEN 'usage_anomaly' = ANY (flags) THEN lines END AS lines
     FROM call
     WHERE id >= $1::uuid AND at > $2::timestamptz AND at <= $3::timestamptz AND end_reason <> 'refused'
     ORDER BY at, id`,
    [idFloor(nowMs - windowMs - slackMs), momentOf(nowMs - windowMs), momentOf(nowMs + windowMs)],
  );
  return found.rows.map((row) => ({
    callId: row.id,
    workspaceId: row.workspace_id,
    keyId: row.key_id,
    atMs: Math.min(row.at.getTime(), nowMs),
    tokens:
      estimates.get(row.id) ??
      countedTokens(
        meteredUsage({
          usage: { ...noUsage, ...row.usage },
          lines: storedCostLines(row.lines),
          flags: row.flags ?? [],
        }),
      ),
  }));
}

function momentOf(ms: number): string {
  return new Date(ms).toISOString();
}
