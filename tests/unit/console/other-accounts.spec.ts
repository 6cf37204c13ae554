import { expect, test } from 'vitest';
import { identityOf } from '#lib/console/account/other-accounts';
import { sessionRowOf } from '#lib/console/account/session-rows';

const account = { provider: 'google', providerAccountId: '7', type: 'oauth' } as const;
const of = (profile: object) => identityOf(account, profile);

test.each([
  [{ email: 'a@example.com', email_verified: true }, true],
  [{ email: 'a@example.com', email_verified: 'true' }, true],
  [{ email: 'a@example.com', email_verified: false }, false],
  [{ email: 'a@example.com', email_verified: 'yes' }, false],
  [{ email: 'a@example.com', email_verified: 1 }, false],
  [{ email: 'a@example.com' }, false],
])('%o is verified: %s (contract: control-plane/other-accounts)', (profile, verified) => {
  expect(of(profile).emailVerified).toBe(verified);
});

test('a name of a stranger is one line of at most 100 characters, or none', () => {
  expect(of({ name: ' Ann\n\u202eLee\u0000 ' }).name).toBe('Ann  Lee');
  expect(of({ name: 'x'.repeat(300) }).name).toHaveLength(100);
  expect(of({ name: `${'x'.repeat(99)}😀` }).name?.isWellFormed()).toBe(true);
  for (const none of [{}, { name: null }, { name: ' ' }, { name: 5 }]) expect(of(none).name).toBeNull();
});

const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';
test.each([
  [`Mozilla/5.0 (X11; Linux x86_64) ${chrome}`, 'Chrome on Linux'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Edg/156.0`, 'Edge on Windows'],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0',
    'Firefox on macOS',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/19.0 Safari/604.1',
    'Safari on iOS',
  ],
  [`Mozilla/5.0 (Linux; Android 15; Pixel 9) ${chrome}`, 'Chrome on Android'],
  ['curl/8.5.0', 'curl'],
  ['<script>alert(1)</script>', 'Unknown device'],
  [null, 'Unknown device'],
])('%s is called %s', (userAgent, device) => {
  const session = {
    id: 's',
    current: false,
    method: 'password',
    userAgent,
    address: null,
    createdAt: '2026-11-21T10:00:00Z',
    seenAt: '2026-11-22T10:00:00Z',
  };
  expect(sessionRowOf(session, Date.parse('2026-11-22T10:05:00Z'))).toMatchObject({
    device,
    facts: '5 min ago',
    seen: { text: '5 min ago', exact: '2026-11-22T10:00:00Z' },
    since: { text: '21 Nov 2026', exact: '2026-11-21T10:00:00Z' },
  });
});
