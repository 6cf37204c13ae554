import type { Ask } from '#lib/core/families/family';
import type { PlannedCall } from '#lib/gateway/flow/call/call';

/**
 * Whether a call may be sent to the same provider a second time: nothing that a provider keeps is made, deleted or
 * ended by it (contract: routing/pooled-connections).
 */
export function isRepeatable({
  operation,
  family,
  ask,
}: Pick<PlannedCall, 'operation' | 'family' | 'ask'>): boolean {
  if (operation.method !== 'POST') return operation.method === 'GET';
  if (operation.resource || ask.job) return false;
  if (family.shown === undefined || operation.shows === false) return true;
  return ask.shows === false || isUnkept(ask);
}

/** The request says that its answer is not stored, and continues nothing that it would extend. */
function isUnkept({ unkept, references = [] }: Ask): boolean {
  return unkept === true && references.length === 0;
}
