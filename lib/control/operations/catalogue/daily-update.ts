import { updateCatalogue } from '#lib/control/operations/catalogue/update';
import { ask, type ControlHost } from '#lib/control/operations/run';
import { type Repeated, repeat } from '#lib/platform/repeat';

/** How often a process looks whether it is its turn, ms. */
const LOOK_MS = 60_000;
const actor = { kind: 'operator', name: 'daily update', address: null } as const;

/** Once a day if it is wanted, by one process; another one takes over if it dies. */
const take = `
  UPDATE fleet_duty SET taken_until = now() + interval '10 minutes'
  WHERE name = 'price-tables' AND (taken_until IS NULL OR taken_until <= now())
    AND (done_at IS NULL OR done_at <= now() - interval '1 day')
    AND EXISTS (SELECT FROM price_table WHERE daily)`;

/** After a failure, again in an hour. */
const end = `
  UPDATE fleet_duty SET taken_until = NULL, done_at = now() - CASE WHEN $1 THEN interval '23 hours' ELSE interval '0' END
  WHERE name = 'price-tables'`;

/**
 * Reads the price tables if they are read daily and it is this process's turn (contract: control-plane/price-tables).
 * @param report is called with tables that could not be read. @returns whether it was its turn.
 */
export async function updateInTurn(control: ControlHost, report: (error: unknown) => void): Promise<boolean> {
  const { rowCount } = await control.db.pool.query(take);
  if (rowCount !== 1) return false;
  const { failures } = await ask(control, updateCatalogue, { actor, input: {} });
  await control.db.pool.query(end, [failures.length > 0]);
  for (const failure of failures) report(new Error(failure));
  return true;
}

export function openDailyUpdate(control: ControlHost, report: (error: unknown) => void): Repeated {
  return repeat(LOOK_MS, () => updateInTurn(control, report), report);
}
