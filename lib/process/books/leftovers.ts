import type { Logger } from 'pino';
import type { Admission } from '#lib/settlement/recent';
import { type RecoverOptions, recover } from '#lib/settlement/recover';

/** Settles what dead processes left, and says so in the log. @returns the calls admitted lately, for the windows. */
export async function settleLeftovers(options: RecoverOptions, log: Logger): Promise<readonly Admission[]> {
  const { owners, settled, interrupted, recent } = await recover(options);
  if (owners.length > 0) log.warn({ settled, interrupted }, 'recovered');
  return recent;
}
