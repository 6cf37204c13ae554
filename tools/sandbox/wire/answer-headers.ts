import type { ReceivedRequest } from '#tools/sandbox/dialect';

/**
 * The headers that providers send, good and bad: an echo of the credential, a cookie, the account's own
 * limits. A gateway passes on only a few of them.
 */
export function answerHeaders(seen: ReceivedRequest): Record<string, string> {
  const credential =
    seen.headers.authorization ?? seen.headers['x-api-key'] ?? seen.headers['x-goog-api-key'];
  return {
    'x-request-id': seen.id,
    'openai-version': '2020-10-01',
    'openai-processing-ms': '7',
    'openai-organization': 'sandbox-organization',
    'x-ratelimit-limit-requests': '10000',
    'x-ratelimit-remaining-requests': '9999',
    'x-ratelimit-reset-requests': '6ms',
    'x-ratelimit-limit-tokens': '2000000',
    'x-ratelimit-remaining-tokens': '1999000',
    'x-ratelimit-reset-tokens': '30ms',
    'set-cookie': '__cf_bm=sandbox; path=/; HttpOnly',
    server: 'sandbox',
    'alt-svc': 'h3=":443"; ma=86400',
    ...(credential ? { 'x-echo-authorization': credential, authorization: credential } : {}),
  };
}
