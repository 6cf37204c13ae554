import type { ControlCode } from '#lib/control/operations/refusal';
import type { ErrorCode } from '#lib/core/errors';

/** What a code means, and what to do about it. The types ensure that none is missing. */
export interface ErrorText {
  readonly meaning: string;
  readonly remedy: string;
}

export const errorTexts: Record<ErrorCode, ErrorText> = {
  invalid_body: {
    meaning:
      'The request cannot be read: its body, length or encoding is invalid, or a field has an impossible value.',
    remedy:
      'The message says what is wrong. Send JSON whose fields have the types that the protocol defines.',
  },
  model_not_allowed: {
    meaning:
      'The model is unknown, retired, not in the scope of the key, has no price, is not offered for this protocol, service tier or kept state, or cannot do what the request asks, such as read images.',
    remedy:
      'The message says which, and names the path or the tiers that work, or what is missing. GET /v1/models lists the models that the key may call.',
  },
  max_output_tokens_exceeded: {
    meaning: 'The request asks for more output tokens than the key allows.',
    remedy: 'Request fewer, or raise the key’s maximum.',
  },
  missing_platform_authorization: {
    meaning: 'No API key was sent.',
    remedy: 'Send Authorization: Bearer mg_… or set the key of your SDK.',
  },
  invalid_api_key: {
    meaning: 'The key is mistyped, unknown or revoked, or two different ones were sent.',
    remedy: 'Compare the key with the characters that the console shows, or create a new one.',
  },
  quota_exceeded: {
    meaning: 'The key has used up its lifetime quota, or was manually marked as used up.',
    remedy: 'Raise its quota, restore it, or use another key.',
  },
  insufficient_balance: {
    meaning:
      'The workspace has no funds available for this call: balance and credit are spent, held by running calls, or simulated money, which pays only for simulated models; or its hard monthly budget is used up.',
    remedy:
      'Add funds, or raise the budget if the message names it. If the answer says x-should-retry: true, only running calls hold the funds: retry later.',
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
    meaning: 'The key is disabled or expired, its creator has left, or the workspace is suspended.',
    remedy: 'The message says which. Enable the key, or create another one.',
  },
  not_found: {
    meaning: 'The address does not exist, or the key’s workspace has nothing with that id.',
    remedy: 'The message names the nearest address. An id works only in the workspace that created it.',
  },
  method_not_allowed: {
    meaning: 'The address does not accept this method, or does not support WebSockets (426).',
    remedy: 'Use a method from the Allow header.',
  },
  results_not_charged: {
    meaning: 'The results of a batch were to be deleted before the batch was charged.',
    remedy: 'Retry a minute after the batch has ended; a batch that still runs can be cancelled first.',
  },
  idempotency_key_in_use: {
    meaning:
      'The first request with this Idempotency-Key is still running, after a minute of waiting for it.',
    remedy: 'Send the same request again after the seconds of Retry-After; it gets the answer of the first.',
  },
  hydrate_cooldown: {
    meaning: 'Keys that are not in memory cannot be looked up at the moment.',
    remedy: 'Retry after the seconds of Retry-After.',
  },
  api_key_rpm_exceeded: {
    meaning: 'The key has reached its limit of requests a minute.',
    remedy: 'Retry after the seconds of Retry-After, or raise the key’s limit.',
  },
  api_key_tpm_exceeded: {
    meaning: 'The key has reached its limit of tokens a minute.',
    remedy: 'Retry after the seconds of Retry-After, or raise the key’s limit.',
  },
  api_key_concurrency_exceeded: {
    meaning: 'The key has reached its limit of concurrent calls.',
    remedy: 'Retry when one of them has ended, or raise the key’s limit.',
  },
  workspace_rpm_exceeded: {
    meaning: 'The workspace has reached its limit of requests a minute, across all keys.',
    remedy: 'Retry after the seconds of Retry-After, or have the workspace’s limit raised.',
  },
  workspace_tpm_exceeded: {
    meaning: 'The workspace has reached its limit of tokens a minute, across all keys.',
    remedy: 'Retry after the seconds of Retry-After, or have the workspace’s limit raised.',
  },
  workspace_concurrency_exceeded: {
    meaning: 'The workspace has reached its limit of concurrent calls, across all keys.',
    remedy: 'Retry when one of them has ended, or have the workspace’s limit raised.',
  },
  provider_limit_exceeded: {
    meaning:
      'All of the gateway’s credentials that could serve the call are at the limits that its operator has set for them.',
    remedy:
      'Retry after the seconds in Retry-After, choose another model, or ask the operator for more credentials.',
  },
  identifier_generation_failed: {
    meaning: 'The gateway’s clock is wrong, so it cannot give the request an id.',
    remedy: 'Tell your gateway administrator that the clock is outside 2025 to 2100.',
  },
  resolver_not_configured: {
    meaning: 'This gateway process cannot look up keys: it has no database or no pepper.',
    remedy: 'Tell your gateway administrator that DATABASE_URL and KEY_PEPPER must be set.',
  },
  local_quota_not_configured: {
    meaning: 'The gateway cannot account for the call at the moment, so it does not make it.',
    remedy: 'Retry with backoff; if it keeps failing, tell your gateway administrator.',
  },
  auth_resolve_failed: {
    meaning: 'The database did not answer for this key.',
    remedy: 'Retry with backoff.',
  },
  rate_limit_config_invalid: {
    meaning: 'A stored limit or the workspace’s time zone is invalid.',
    remedy: 'Set the limits of the key and the workspace again.',
  },
  missing_upstream_base_url: {
    meaning:
      'No offer of the model can be called: its provider is not set up, or the routing policy excludes all offers.',
    remedy: 'The message gives the reason for each offer. Change the policy, or choose another model.',
  },
  invalid_upstream_base_url: {
    meaning: 'The provider’s address is invalid.',
    remedy: 'Tell your gateway administrator, or choose another model.',
  },
  upstream_request_failed: {
    meaning: 'No provider gave a usable answer; nothing was charged.',
    remedy: 'Retry with backoff. The call in the log shows every attempt and why it failed.',
  },
};

/** Codes that only `/api/v1` returns. */
export const controlTexts: Record<Exclude<ControlCode, ErrorCode> | 'internal_error', ErrorText> = {
  permission_denied: {
    meaning: 'The role of the management key, or of the signed-in user, does not allow this.',
    remedy:
      'The message names the roles that allow it. Ask someone with one of these roles, or use another key.',
  },
  conflict: {
    meaning:
      'The request conflicts with the current state: the object was changed since it was read (If-Match), it already exists, or the Idempotency-Key was used for another request.',
    remedy: 'Read it again and decide what to do, or send a new Idempotency-Key.',
  },
  billing_not_configured: {
    meaning: 'This gateway does not take payments: no payment processor is set up.',
    remedy: 'Tell your gateway administrator; the message names the settings.',
  },
  billing_unreachable: {
    meaning: 'The payment processor could not be reached or did not accept the request; nothing was charged.',
    remedy:
      'Retry in a moment. If it keeps failing, tell your gateway administrator: the processor’s key may be wrong.',
  },
  content_store_unreachable: {
    meaning: 'The store in which kept content is cannot be read.',
    remedy:
      'Retry in a minute. If it keeps failing, ask your gateway administrator to run "gateway doctor", which says why.',
  },
  internal_error: {
    meaning: 'Unexpected error; nothing was changed.',
    remedy: 'Retry; if it keeps failing, send your gateway administrator the X-Request-Id.',
  },
};
