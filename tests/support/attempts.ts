import type { CallDetail } from '#lib/control/operations/call/detail';

/**
 * The attempts of a call, without those that were repeated because their kept connection had been dropped
 * (contract: routing/pooled-connections): in tests that share a provider, whether a connection was kept is
 * chance.
 */
export function unrepeated({ attempts }: Pick<CallDetail, 'attempts'>): CallDetail['attempts'] {
  return attempts.filter((one) => !one.possibleDuplicate || one.error === 'first_byte_timeout');
}
