import { describe, expect, it } from 'vitest';
import { whyUnreachable } from '#lib/control/providers/unreachable';

const coded = (code: string) => Object.assign(new Error('failed'), { code });
const why = (error: unknown, url = 'https://models.example.com/v1/models') =>
  whyUnreachable(error, new URL(url), 20_000);

describe('why a provider gives no answer', () => {
  it.each([
    ['ECONNREFUSED', 'nothing listens at models.example.com'],
    ['ENOTFOUND', 'cannot be resolved'],
    ['UND_ERR_CONNECT_TIMEOUT', 'cannot be reached'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
    ['CERT_HAS_EXPIRED', 'has expired'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'another name'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'http://'],
    ['ECONNRESET', 'closed the connection'],
    ['HPE_INVALID_CONSTANT', 'does not speak HTTP'],
  ])('%s says what to do', (code, words) => {
    expect(why(coded(code))).toContain(words);
    expect(why(coded(code))).toContain(code);
  });

  it('names the container if nothing listens on this machine', () => {
    expect(why(coded('ECONNREFUSED'), 'http://localhost:11434/v1')).toContain('host.docker.internal');
    expect(why(coded('ECONNREFUSED'), 'http://[::1]:11434/v1')).toContain('host.docker.internal');
    expect(why(coded('ECONNREFUSED'), 'http://10.0.0.5:11434/v1')).not.toContain('docker');
  });

  it('finds the cause inside other errors', () => {
    expect(why(new AggregateError([coded('ECONNREFUSED'), coded('ENETUNREACH')]))).toContain(
      'nothing listens',
    );
    expect(why(new Error('fetch failed', { cause: coded('ENOTFOUND') }))).toContain('cannot be resolved');
    expect(why(new DOMException('late', 'TimeoutError'))).toContain('within 20 s');
    expect(why('odd')).toBe('odd');
  });
});
