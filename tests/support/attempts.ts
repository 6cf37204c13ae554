import type { CallDetail } from '#lib/control/operations/call/detail';

/**
 * The attempts of a call without those that were repeated since their kept connection had been dropped
 * (contract: routing/pooled-connections): whether a connection was kept is chance, where tests share a provider.
 */
export function unrepeated({ attempts }: Pick<CallDetail, 'attempts'>): CallDetail['attempts'] {
  return attempts.filter((one) => !one.possibleDuplicate || one.error === 'first_byte_timeout');
}
