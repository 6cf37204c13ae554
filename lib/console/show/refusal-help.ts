/** Where the fix for a refusal is; shown beside the error code of a call. */
export interface RefusalHelp {
  readonly text: string;
  /** Page of the workspace that fixes it; null when the fix is in the client's own request. */
  readonly page: 'keys' | null;
}

const help: Record<string, RefusalHelp> = {
  apikey_inactive: { text: 'The key was not active. Enable it, or call with another one.', page: 'keys' },
  quota_exceeded: { text: 'The key has used up its lifetime quota.', page: 'keys' },
  day_limit_reached: { text: 'The key reached its daily cap; it frees up at midnight.', page: 'keys' },
  d7_limit_reached: { text: 'The key reached its cap of the last 7 days.', page: 'keys' },
  d30_limit_reached: { text: 'The key reached its cap of the last 30 days.', page: 'keys' },
  model_not_allowed: {
    text: 'This model is not in the catalogue, not in the scope of the key, or does not speak this protocol.',
    page: 'keys',
  },
  max_output_tokens_exceeded: {
    text: 'The request asked for more output tokens than the key allows.',
    page: 'keys',
  },
  api_key_rpm_exceeded: { text: 'The key was at its limit of requests a minute.', page: 'keys' },
  api_key_tpm_exceeded: { text: 'The key was at its limit of tokens a minute.', page: 'keys' },
  api_key_concurrency_exceeded: { text: 'The key was at its limit of calls at once.', page: 'keys' },
  insufficient_balance: { text: 'The workspace had no funds left.', page: null },
  workspace_rpm_exceeded: { text: 'The workspace was at its limit of requests a minute.', page: null },
  workspace_tpm_exceeded: { text: 'The workspace was at its limit of tokens a minute.', page: null },
  workspace_concurrency_exceeded: { text: 'The workspace was at its limit of calls at once.', page: null },
  invalid_body: { text: 'The body of the request could not be read.', page: null },
  upstream_request_failed: {
    text: 'No provider gave an answer; the attempts below say why. Retry with backoff.',
    page: null,
  },
  missing_upstream_base_url: {
    text: 'No provider of this model is set up: an address or a credential is missing.',
    page: null,
  },
};

/** What to do about an error code; null when there is nothing more to say than the code. */
export function findRefusalHelp(errorCode: string | null): RefusalHelp | null {
  return errorCode === null ? null : (help[errorCode] ?? null);
}
