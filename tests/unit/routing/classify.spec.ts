import { describe, expect, it } from 'vitest';
import { classify, failureName } from '#lib/upstream/classify';

const next = [401, 402, 403, 408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 529];

describe('what an answer means for the chain (contract: routing/next-target)', () => {
  it('is the next target for exactly these statuses, a look at the body for 400, else the answer', () => {
    const statuses = Array.from({ length: 400 }, (_, at) => at + 200);
    expect(statuses.filter((status) => classify(status) === 'next')).toEqual(next);
    expect(statuses.filter((status) => classify(status) === 'read')).toEqual([400]);
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

  it('connection_failed without a code', () => {
    expect(failureName(new Error('failed'))).toBe('connection_failed');
    expect(failureName(null)).toBe('connection_failed');
  });
});
