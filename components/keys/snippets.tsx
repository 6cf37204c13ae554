/** Values and ready-to-paste snippets; `model` is a model that exists on this gateway. */
export interface SnippetFacts {
  /** URL of the gateway, without a trailing slash. */
  readonly baseUrl: string;
  readonly model: string;
  /** The quickstart's first calls, with this URL and this model; the key is `$GATEWAY_API_KEY`. */
  readonly snippets: readonly { readonly name: string; readonly label: string; readonly code: string }[];
}

export function envSnippet(key: string, { baseUrl }: Pick<SnippetFacts, 'baseUrl'>): string {
  return `OPENAI_BASE_URL=${baseUrl}/v1\nOPENAI_API_KEY=${key}`;
}

/** The quickstart's first call with a key. @param model the model to call instead of that in `facts`. */
export function curlSnippet(key: string, facts: SnippetFacts, model: string): string {
  const curl = facts.snippets.find(({ name }) => name === 'curl')?.code ?? '';
  return curl.replaceAll('$GATEWAY_API_KEY', key).replaceAll(facts.model, model);
}
