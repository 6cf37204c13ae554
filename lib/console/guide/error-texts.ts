import type { ControlCode } from '#lib/control/operations/refusal';
import type { ErrorCode } from '#lib/core/errors';

/** What a code means, and what to do about it. The types see to it that none is missing. */
export interface ErrorText {
  readonly meaning: string;
  readonly remedy: string;
}

export const errorTexts: Record<ErrorCode, ErrorText> = {
  invalid_body: {
    meaning:
      'The request cannot be read: its body, its length or encoding, or a field with an impossible value.',
    remedy:
      'The message names what is wrong. Send JSON whose fields have the types that the protocol gives them.',
  },
  model_not_allowed: {
    meaning:
      'The model is unknown, retired, not in the scope of the key, has no price, or is not offered for this protocol, service tier or kept state.',
    remedy:
      'The message tells which, and names the path or the tiers that work. GET /v1/models lists what the key may call.',
  },
  max_output_tokens_exceeded: {
    meaning: 'The request asks for more output tokens than the key allows.',
    remedy: 'Ask for fewer, or raise the maximum of the key.',
  },
  missing_platform_authorization: {
    meaning: 'No API key was sent.',
    remedy: 'Send Authorization: Bearer mg_… or set the key of your SDK.',
  },
  invalid_api_key: {
    meaning: 'The key is mistyped, unknown or revoked, or two different ones were sent.',
    remedy: 'Compare it with the characters that the console shows, or create a new one.',
  },
  quota_exceeded: {
    meaning: 'The key has used up its lifetime quota, or was marked so by hand.',
    remedy: 'Raise its quota, restore it, or use another key.',
  },
  insufficient_balance: {
    meaning:
      'The workspace has nothing available that pays for this call: balance and credit are spent, held by calls that run, or simulated money, which pays only simulated models.',
    remedy:
      'Add funds. If the answer says x-should-retry: true, only running calls stand in the way: retry later.',
  },
  day_limit_reached: {
    meaning: 'The key has reached its daily spend cap.',
    remedy: 'Raise the cap, or wait for midnight in the time zone of the workspace.',
  },
  d7_limit_reached: {
    meaning: 'The key has reached its spend cap of the last 7 days.',
    remedy: 'Raise the cap, or wait: the message says when the first spend leaves the window.',
  },
  d30_limit_reached: {
    meaning: 'The key has reached its spend cap of the last 30 days.',
    remedy: 'Raise the cap, or wait: the message says when the first spend leaves the window.',
  },
  apikey_inactive: {
    meaning: 'The key is disabled or expired, its maker has left, or the workspace is suspended.',
    remedy: 'The message tells which. Enable the key, or create another one.',
  },
  not_found: {
    meaning: 'There is no such address, or nothing of that id in the workspace of the key.',
    remedy: 'The message names the nearest address. Ids belong to the workspace that made them.',
  },
  method_not_allowed: {
    meaning: 'The address takes another method; a WebSocket was asked for where there is none (426).',
    remedy: 'Use a method that the Allow header names.',
  },
  hydrate_cooldown: {
    meaning: 'Keys that are not in memory cannot be looked up at the moment.',
    remedy: 'Retry after the seconds of Retry-After.',
  },
  api_key_rpm_exceeded: {
    meaning: 'The key has used its requests a minute.',
    remedy: 'Retry after the seconds of Retry-After, or raise the limit of the key.',
  },
  api_key_tpm_exceeded: {
    meaning: 'The key has used its tokens a minute.',
    remedy: 'Retry after the seconds of Retry-After, or raise the limit of the key.',
  },
  api_key_concurrency_exceeded: {
    meaning: 'The key has as many calls running as it may.',
    remedy: 'Retry when one of them has ended, or raise the limit of the key.',
  },
  workspace_rpm_exceeded: {
    meaning: 'The workspace has used its requests a minute, all keys together.',
    remedy: 'Retry after the seconds of Retry-After, or have the limit of the workspace raised.',
  },
  workspace_tpm_exceeded: {
    meaning: 'The workspace has used its tokens a minute, all keys together.',
    remedy: 'Retry after the seconds of Retry-After, or have the limit of the workspace raised.',
  },
  workspace_concurrency_exceeded: {
    meaning: 'The workspace has as many calls running as it may, all keys together.',
    remedy: 'Retry when one of them has ended, or have the limit of the workspace raised.',
  },
  identifier_generation_failed: {
    meaning: 'The clock of the gateway is wrong, so it can give the request no id.',
    remedy: 'Tell the people who run this gateway: its clock is outside 2025 to 2100.',
  },
  resolver_not_configured: {
    meaning: 'This process of the gateway cannot look keys up: it has no database or no pepper.',
    remedy: 'Tell the people who run this gateway: DATABASE_URL and KEY_PEPPER must be set.',
  },
  local_quota_not_configured: {
    meaning: 'The gateway cannot account for the call at the moment, so it does not make it.',
    remedy: 'Retry with growing pauses; if it lasts, tell the people who run this gateway.',
  },
  auth_resolve_failed: {
    meaning: 'The database did not answer for this key.',
    remedy: 'Retry with growing pauses.',
  },
  rate_limit_config_invalid: {
    meaning: 'A stored limit or the time zone of the workspace is not usable.',
    remedy: 'Set the limits of the key and the workspace again.',
  },
  missing_upstream_base_url: {
    meaning:
      'No offer of the model can be called: its provider is not set up, or the routing policy leaves none.',
    remedy: 'The message gives the reason for each offer. Change the policy, or choose another model.',
  },
  invalid_upstream_base_url: {
    meaning: 'The address of the provider is not usable.',
    remedy: 'Tell the people who run this gateway, or choose another model.',
  },
  upstream_request_failed: {
    meaning: 'No provider gave a usable answer; nothing was charged.',
    remedy: 'Retry with growing pauses. The call in the log shows every attempt and why it failed.',
  },
};

/** Codes of `/api/v1` alone. */
export const controlTexts: Record<Exclude<ControlCode, ErrorCode> | 'internal_error', ErrorText> = {
  permission_denied: {
    meaning: 'The role of the management key, or of whoever is signed in, does not allow this.',
    remedy: 'The message names the roles that may. Ask one of them, or use another key.',
  },
  conflict: {
    meaning:
      'It collides with what is there: the thing was changed since it was read (If-Match), exists already, or the Idempotency-Key was used for something else.',
    remedy: 'Read it again and decide anew, or send a new Idempotency-Key.',
  },
  billing_not_configured: {
    meaning: 'This gateway takes no payments: it has no account at a payment processor.',
    remedy: 'Tell the people who run it; the message names the settings.',
  },
  billing_unreachable: {
    meaning: 'The payment processor could not be reached, or did not take the request; nothing was charged.',
    remedy:
      'Retry in a moment. If it lasts, tell the people who run this gateway: its key there may be wrong.',
  },
  internal_error: {
    meaning: 'An error that nobody foresaw; nothing was changed.',
    remedy: 'Retry; if it lasts, tell the people who run this gateway, with the X-Request-Id.',
  },
};
