import { describe, expect, it } from 'vitest';
import { families } from '#lib/core/families/index';
import { failureName, isDecided } from '#lib/gateway/upstream/pure/classify';

const alone = [401, 402, 403, 408, 425, 429, 499];

describe('an error whose status alone decides (contract: families/faults)', () => {
  const quoted = { error: { message: 'Invalid value', code: 'invalid_value', param: 'input' } };

  it('statuses that decide alone are the same for the chain and for the families', () => {
    const statuses = Array.from({ length: 200 }, (_, at) => at + 400);
    const decided = statuses.filter(isDecided);
    expect(decided.filter((status) => status < 500)).toEqual(alone);
    expect(decided.filter((status) => status >= 500)).toHaveLength(100);
    for (const family of families) {
      const clients = statuses.filter((status) => family.faultOf(status, quoted).whose === 'client');
      expect(clients.filter(isDecided), family.id).toEqual([]);
      // What is gone is decided by the status too, unless it is kept for a client.
      expect(
        statuses.filter((status) => !clients.includes(status) && !isDecided(status)),
        family.id,
      ).toEqual([410]);
    }
  });
});

describe('an attempt without an answer is logged as', () => {
  it.each([
    ['ECONNREFUSED', 'connection_refused'],
    ['ECONNRESET', 'connection_reset'],
    ['UND_ERR_SOCKET', 'connection_closed'],
    ['UND_ERR_CONNECT_TIMEOUT', 'connect_timeout'],
    ['ENOTFOUND', 'address_not_found'],
    ['EHOSTUNREACH', 'address_unreachable'],
    ['CERT_HAS_EXPIRED', 'certificate_refused'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate_refused'],
    ['HPE_INVALID_CONSTANT', 'bad_answer'],
    ['FIRST_BYTE_TIMEOUT', 'first_byte_timeout'],
    ['SOMETHING_NEW', 'connection_failed'],
  ])('%s: %s', (code, name) => {
    expect(failureName(Object.assign(new Error('failed'), { code }))).toBe(name);
  });

  it('an attempt without an error code is logged as connection_failed', () => {
    expect(failureName(new Error('failed'))).toBe('connection_failed');
    expect(failureName(null)).toBe('connection_failed');
  });
});
