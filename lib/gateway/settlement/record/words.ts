import type { UsageSource } from '#lib/core/metering/usage';
import type { Funding } from '#lib/gateway/admission/claim';
import type { EndReason } from '#lib/gateway/settlement/pure/entry';

const fundings = { lease: 'lease', row: 'row', none: 'none' } as const;
const endReasons = {
  completed: 'completed',
  client_gone: 'client_gone',
  upstream_error: 'upstream_error',
  timeout: 'timeout',
  interrupted: 'interrupted',
  refused: 'refused',
} as const;
const usageSources = { reported: 'reported', estimated: 'estimated', none: 'none' } as const;

export const readFunding = (value: unknown): Funding => oneOf(fundings, value);
export const readEndReason = (value: unknown): EndReason => oneOf(endReasons, value);
export const readUsageSource = (value: unknown): UsageSource => oneOf(usageSources, value);

function oneOf<T>(known: Readonly<Record<string, T>>, value: unknown): T {
  const found = typeof value === 'string' ? known[value] : undefined;
  if (found === undefined) throw new Error(`unknown word "${String(value)}" in a journal record`);
  return found;
}
