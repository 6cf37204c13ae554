import { expect, it } from 'vitest';
import { refuseAddress } from '#lib/control/alerts/address';
import { alertKinds } from '#lib/control/alerts/kinds';
import { signatureOf } from '#lib/control/alerts/sign';
import { alertWords } from '#lib/control/alerts/words';

it.each([
  'http://192.0.2.1/',
  'ftp://example.com/',
  'nothing',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0x7f000001/',
  'https://2130706433/',
  'https://0/',
  'https://10.1.2.3/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://100.64.0.1/',
  'https://[::1]/',
  'https://[::]/',
  'https://[fe80::1]/',
  'https://[fd00::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://localhost/',
  'https://x.localhost./',
  'https://metadata.google.internal/',
  'https://printer.local/',
  'https://user:secret@192.0.2.1/',
])('a webhook to %s is refused (contract: control-plane/webhooks)', async (address) => {
  expect(await refuseAddress(address)).toEqual(expect.any(String));
});

it('an address of the public internet is taken', async () => {
  expect(await refuseAddress('https://93.184.216.34:8443/hook?x=1')).toBeNull();
});

it('a signature depends on time and body', () => {
  const one = signatureOf('whsec_a', 1_700_000_000, '{"a":1}');
  expect(one).toMatch(/^t=1700000000,v1=[0-9a-f]{64}$/);
  expect(signatureOf('whsec_a', 1_700_000_001, '{"a":1}').split('v1=')[1]).not.toBe(one.split('v1=')[1]);
  expect(signatureOf('whsec_a', 1_700_000_000, '{"a":2}')).not.toBe(one);
});

it('every kind of alert has words, whatever its facts', () => {
  for (const kind of alertKinds) {
    const { title, text } = alertWords(kind, { name: 'web', level: 80, limit: 'the daily cap' });
    expect([title.length > 5, text.length > 20]).toEqual([true, true]);
  }
});
