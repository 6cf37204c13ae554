import { usageClasses } from '#lib/core/metering/usage';
import { errorClasses } from '#lib/gateway/settlement/pure/error-class';
import type { UsageQuarter } from '#lib/gateway/settlement/pure/quarter';
import { errorColumns, sumColumns, sumNames, usageColumns } from '#lib/gateway/settlement/usage/columns';

const place = ['workspace_id uuid', 'quarter timestamptz', 'key_id uuid', 'model text', 'provider text'];
const placeNames = 'workspace_id, quarter, key_id, model, provider';

/** Adds to the sums by quarter, in the order of their rows. $1: JSON array of `quarterRow`. */
export const addQuarters = `
  INSERT INTO usage_quarter (${placeNames}, ${sumNames.join(', ')})
  SELECT ${placeNames}, ${sumNames.map((name) => `coalesce(${name}, 0)`).join(', ')}
  FROM json_to_recordset($1::json) AS r (${[...place, ...sumColumns.map((column) => column.join(' '))].join(', ')})
  ORDER BY ${placeNames}
  ON CONFLICT (${placeNames}) DO UPDATE SET
    ${sumNames.map((name) => `${name} = usage_quarter.${name} + excluded.${name}`).join(', ')}`;

/** A row of `addQuarters`; what is 0 is left out, which is most of it. */
export function quarterRow(quarter: UsageQuarter): Readonly<Record<string, string | number>> {
  const { calls, refused, errors, attempts, fallbacks, used, costNano, ownListNano, latency, firstByte } =
    quarter;
  const row: Record<string, string | number> = {
    workspace_id: quarter.workspaceId,
    quarter: new Date(quarter.quarterMs).toISOString(),
    key_id: quarter.keyId,
    model: quarter.model,
    provider: quarter.provider,
  };
  if (calls !== 0) row.calls = calls;
  if (refused !== 0) row.refused = refused;
  for (const name of errorClasses) {
    const count = errors[name];
    if (count !== undefined) row[errorColumns[name]] = count;
  }
  if (attempts !== 0) row.attempts = attempts;
  if (fallbacks !== 0) row.fallbacks = fallbacks;
  for (const name of usageClasses) if (used[name] !== 0) row[usageColumns[name]] = used[name];
  if (costNano !== 0n) row.cost_nano = `${costNano}`;
  if (ownListNano !== 0n) row.own_list_nano = `${ownListNano}`;
  if (latency.total > 0) row.latency = latency.toNumber();
  if (firstByte.total > 0) row.first_byte = firstByte.toNumber();
  return row;
}
