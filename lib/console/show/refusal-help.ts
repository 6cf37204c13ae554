/** Where a refusal can be fixed; shown next to the error code of a call. */
export interface RefusalHelp {
  readonly text: string;
  /**
   * Where the fix is: the call's key, or a page of the workspace; null if it is in the client's own request.
   */
  readonly mend: 'key' | 'tag-budgets' | 'models' | 'billing' | 'settings' | 'routing' | null;
}

const help: Record<string, RefusalHelp> = {
  apikey_inactive: { text: 'The key was not active. Enable it or use another key.', mend: 'key' },
  quota_exceeded: { text: 'The key has used up its lifetime quota.', mend: 'key' },
  day_limit_reached: { text: 'The key reached its daily cap; it frees up at midnight.', mend: 'key' },
  d7_limit_reached: { text: 'The key reached its cap of the last 7 days.', mend: 'key' },
  d30_limit_reached: { text: 'The key reached its cap of the last 30 days.', mend: 'key' },
  model_not_allowed: {
    text: 'This model is not in the catalogue, is not allowed for the key, or does not support this protocol.',
    mend: 'models',
  },
  max_output_tokens_exceeded: {
    text: 'The request asked for more output tokens than the key allows.',
    mend: 'key',
  },
  api_key_rpm_exceeded: { text: 'The key was at its limit of requests a minute.', mend: 'key' },
  api_key_tpm_exceeded: { text: 'The key was at its limit of tokens a minute.', mend: 'key' },
  api_key_concurrency_exceeded: { text: 'The key was at its limit of concurrent calls.', mend: 'key' },
  insufficient_balance: {
    text: 'The workspace had no funds left, or had used up its monthly budget.',
    mend: 'billing',
  },
  workspace_rpm_exceeded: { text: 'The workspace was at its limit of requests a minute.', mend: 'settings' },
  workspace_tpm_exceeded: { text: 'The workspace was at its limit of tokens a minute.', mend: 'settings' },
  workspace_concurrency_exceeded: {
    text: 'The workspace was at its limit of concurrent calls.',
    mend: 'settings',
  },
  provider_limit_exceeded: {
    text: 'All credentials of the gateway that could serve the call were at their own limits.',
    mend: null,
  },
  invalid_body: { text: 'The request body could not be read.', mend: null },
  not_found: {
    text: 'The address does not exist, or it names something that does not exist. Check the path and the base URL.',
    mend: 'models',
  },
  upstream_request_failed: {
    text: 'No provider gave a complete answer; the call’s attempts show why. Retry with backoff.',
    mend: 'routing',
  },
  missing_upstream_base_url: {
    text: 'No provider of this model is set up: an address or a credential is missing.',
    mend: 'routing',
  },
};

const pages = {
  'tag-budgets': 'User and tag budgets',
  models: 'Models',
  billing: 'Billing',
  settings: 'Workspace limits',
  routing: 'Routing',
} as const;

/**
 * The page where a refusal can be fixed, with its name.
 * @param place slug of the workspace, and id of the call's key (null: it has no page).
 * @param exists whether a workspace has this page.
 */
export function mendingPage(
  { mend }: RefusalHelp,
  place: { readonly workspace: string; readonly key: string | null },
  exists: (path: string) => boolean,
): { readonly href: string; readonly label: string } | null {
  if (mend === null) return null;
  if (mend === 'key' && place.key === null) return null;
  if (mend === 'key') return { href: `/${place.workspace}/keys/${place.key}`, label: 'The key' };
  return exists(mend) ? { href: `/${place.workspace}/${mend}`, label: pages[mend] } : null;
}

/** Codes that keys share with budgets of end users and tags (contract: tags/spend, tags/rates). */
const shared = /^(day|d7|d30)_limit_reached$|^api_key_[rt]pm_exceeded$/;

/**
 * What to do about an error code; null if there is nothing to add to the code.
 * @param tagged whether the call had an end user or tags, whose budget it may have been.
 */
export function findRefusalHelp(errorCode: string | null, tagged = false): RefusalHelp | null {
  const found = errorCode === null ? null : (help[errorCode] ?? null);
  if (!found || !tagged || !shared.test(errorCode ?? '')) return found;
  const text = found.text.replace('The key', 'The key, or a budget of the end user or of a tag,');
  return { text, mend: 'tag-budgets' };
}
