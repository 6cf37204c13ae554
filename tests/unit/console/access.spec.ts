import { describe, expect, test } from 'vitest';
import { isWebAddress, landingAddress, safeCallback } from '#lib/console/addresses';
import { withoutSecret } from '#lib/console/key-filters';
import { may, roleOf, roles, rolesThatMay } from '#lib/core/role';
import { clientOf, trustForwarded } from '#lib/platform/client-address';
import { makeKey } from '#lib/platform/secrets';

describe('the way back after signing in', () => {
  test.each(['/acme/logs?status=4xx', '/acme/keys#top', '/'])('%s is kept', (target) => {
    expect(safeCallback(target)).toBe(target);
  });

  test.each([
    'https://evil.example/',
    '//evil.example/x',
    '/\\evil.example',
    '/%2F/../\\\\evil.example',
    'javascript:alert(1)',
    '/sign-in?callbackUrl=/sign-in',
    '/api/auth/signout',
    '',
    null,
    undefined,
  ])('%s is not', (target) => {
    const answer = safeCallback(target);
    expect(new URL(answer, 'https://console.example').origin).toBe('https://console.example');
    if (!target?.includes('..')) expect(answer).toBe('/');
  });
});

describe('where next-auth leads to', () => {
  const origin = 'http://localhost:3200';

  test.each(['/demo/logs?status=4xx', `${origin}/demo/logs?status=4xx`])('%s is kept', (target) => {
    expect(landingAddress(target, origin)).toBe(`${origin}/demo/logs?status=4xx`);
  });

  test.each([
    'http://localhost:3200.evil.example',
    'http://localhost:3200@evil.example/',
    'http://localhost:32000/demo',
    'https://localhost:3200/demo',
    '//evil.example',
    `${origin}//evil.example`,
    'javascript:alert(1)',
    'not an address',
    origin,
    '',
    5,
    undefined,
  ])('%s leads home', (target) => {
    expect(landingAddress(target, origin)).toBe(`${origin}/`);
  });

  test.each([
    ['http://localhost:3200.evil.example', false],
    ['javascript:alert(1)', false],
    ['\ud800', false],
    ['http://evil.example/', true],
    ['/demo/logs', true],
  ])('%s is an address to it: %s', (target, kept) => {
    expect(isWebAddress(target)).toBe(kept);
  });
});

test('a key that is searched for whole is cut to what the list shows of it', () => {
  const key = makeKey();
  expect(withoutSecret(`Bearer ${key},`)).toBe(`Bearer ${key.slice(0, 7)}…${key.slice(-4)},`);
  expect(withoutSecret('mg_ab')).toBe('mg_ab');
});

describe('roles (contract: control-plane/roles)', () => {
  test('whoever may write keys may read them, and only owner, admin and developer may write', () => {
    expect(roles.filter((role) => may(role, 'keys:write'))).toEqual(['owner', 'admin', 'developer']);
    for (const role of roles) expect(may(role, 'keys:read')).toBe(true);
    expect(rolesThatMay('keys:write')).toBe('owner, admin or developer');
    expect(rolesThatMay('billing:write')).toBe('owner, admin or billing');
  });

  test('an unknown stored word is no role', () => {
    expect(roleOf('root')).toBeNull();
    expect(roleOf('toString')).toBeNull();
  });
});

describe('whom an attempt counts for (contract: control-plane/throttles)', () => {
  test.each([
    ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['::ffff:203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['2001:db8::1', '198.51.100.1', '2001:db8::1'],
    ['::ffff:127.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['fd00::2', '198.51.100.1', '198.51.100.1'],
  ])('a peer at %s who says that it forwards %s counts as %s', (peer, claimed, expected) => {
    const request = { headers: { 'x-forwarded-for': claimed }, socket: { remoteAddress: peer } };
    trustForwarded(request, 1);
    expect(request.headers['x-forwarded-for']).toBe(expected);
  });

  test.each([
    [1, '192.0.2.7, 198.51.100.1', '198.51.100.1'],
    [2, '192.0.2.7, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    [2, '198.51.100.1,10.0.0.2', '198.51.100.1'],
    [2, '198.51.100.1', '198.51.100.1'],
    [3, '198.51.100.1, 10.0.0.2', '10.0.0.2'],
  ])('behind %i proxies a request that was forwarded for %s counts as %s', (hops, claimed, expected) => {
    const request = { headers: { 'x-forwarded-for': claimed }, socket: { remoteAddress: '10.0.0.3' } };
    trustForwarded(request, hops);
    expect(request.headers['x-forwarded-for']).toBe(expected);
  });

  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.33', '64:ff9b:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['unknown', 'unknown'],
  ])('attempts from %s count for %s', (address, client) => {
    expect(clientOf(address)).toBe(client);
  });
});
