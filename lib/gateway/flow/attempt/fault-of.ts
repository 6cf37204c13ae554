import type { Fault } from '#lib/core/families/reading/fault';
import { maskedMessage } from '#lib/gateway/flow/attempt/masked-message';
import type { PlannedCall } from '#lib/gateway/flow/call/call';
import type { Target } from '#lib/gateway/routing/pure/target';

/**
 * Whose fault an error answer of a call is (contract: families/faults): its family's judgement, except that what is
 * stored may well be missing at its provider, and that some servers cannot count. Its message is masked, so that it may
 * be kept (contract: call-log/provider-error).
 */
export function faultOf(
  { family, operation, ask }: Pick<PlannedCall, 'family' | 'operation' | 'ask'>,
  { credential }: Pick<Target, 'credential'>,
  status: number | null,
  body: unknown,
): Fault {
  const said = family.faultOf(status, body);
  const request = ask.scan.body;
  const message =
    said.message === null ? null : maskedMessage(said.message, { credential: credential.secret, request });
  const fault = { ...said, message };
  if (fault.whose === 'client' || (status !== 404 && status !== 410)) return fault;
  const passes =
    operation.resource !== undefined ||
    operation.steps === 'stored' ||
    (operation.steps === 'count' && fault.kind === 'unknown');
  return passes ? { ...fault, whose: 'client', kind: 'invalid_request' } : fault;
}
