import type { Fault } from '#lib/families/reading/fault';
import type { PlannedCall } from '#lib/gateway/call/call';

/**
 * Whose fault an error answer of a call is (contract: families/faults): its family's judgement, but that what is kept
 * may well be missing at its provider, and that some servers cannot count.
 */
export function faultOf(
  { family, operation }: Pick<PlannedCall, 'family' | 'operation'>,
  status: number | null,
  body: unknown,
): Fault {
  const fault = family.faultOf(status, body);
  if (fault.whose === 'client' || (status !== 404 && status !== 410)) return fault;
  const passes =
    operation.resource !== undefined || (operation.steps === 'count' && fault.kind === 'unknown');
  return passes ? { ...fault, whose: 'client', kind: 'invalid_request' } : fault;
}
