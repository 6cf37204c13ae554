import type { PoolClient } from 'pg';
import { isLockRefused } from '#lib/control/retention/gap';

/**
 * Makes sure that no other process changes weeks or deletes calls until the transaction ends. Nobody else waits for
 * this lock, neither reads nor settlement.
 * @returns false when another process does so at this moment; the transaction can go on.
 */
export async function takeTurn(client: PoolClient): Promise<boolean> {
  await client.query('SAVEPOINT turn');
  try {
    await client.query('LOCK TABLE ONLY call IN SHARE UPDATE EXCLUSIVE MODE NOWAIT');
    return true;
  } catch (error) {
    if (!isLockRefused(error)) throw error;
    await client.query('ROLLBACK TO turn');
    return false;
  }
}
