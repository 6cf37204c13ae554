import { faultReader } from '#lib/core/families/reading/fault';

/** Whose fault an error of a messages provider is (contract: families/faults). */
export const messagesFault = faultReader({
  sayings: [
    {
      whose: 'operator',
      kind: 'quota',
      code: /^(billing_error|(enforced|contract)_spend_limit_reached|ramp_limit_exceeded)$/,
    },
    { whose: 'operator', kind: 'credential', code: /^(authentication_error|permission_error)$/ },
  ],
  notFound: /^not_found_error$/,
});
