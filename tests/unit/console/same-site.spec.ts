import { describe, expect, test } from 'vitest';
import { isFromElsewhere } from '#lib/console/addresses';

const of = (headers: Record<string, string>) =>
  isFromElsewhere(new Headers({ host: 'console.example', ...headers }));

describe('whether another site sent a form (contract: control-plane/other-sites)', () => {
  test.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: 'https://blog.example' },
    { 'sec-fetch-site': 'same-site', origin: 'https://console.example' },
    { 'sec-fetch-site': '' },
    { origin: 'https://evil.example' },
    { origin: 'https://console.example.evil.example' },
    { origin: 'https://console.example:8443' },
    { origin: 'https://evil.example', 'x-forwarded-host': 'console.example' },
    { origin: 'null' },
    { origin: 'https://console.example, https://evil.example' },
    { origin: '' },
  ])('%j: another one', (headers) => expect(of(headers)).toBe(true));

  test.each([
    {},
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://console.example' },
    { 'sec-fetch-site': 'same-origin', origin: 'https://console.example' },
    { origin: 'https://gateway.example', 'x-forwarded-host': 'gateway.example' },
  ])('%j: ours, or no browser', (headers) => expect(of(headers)).toBe(false));
});
