/** Ready-made lines that work as pasted; `model` is one that exists here. */
export interface SnippetFacts {
  /** Address of the gateway, without a slash at the end. */
  readonly baseUrl: string;
  readonly model: string;
  /** First calls as the quickstart of the guide has them, with this address and this model; the key is `$GATEWAY_API_KEY`. */
  readonly snippets: readonly { readonly name: string; readonly label: string; readonly code: string }[];
}

export function envSnippet(key: string, { baseUrl }: Pick<SnippetFacts, 'baseUrl'>): string {
  return `OPENAI_BASE_URL=${baseUrl}/v1\nOPENAI_API_KEY=${key}`;
}

/** The first call of the quickstart with a key in it. @param model the one to call in place of that of the facts. */
export function curlSnippet(key: string, facts: SnippetFacts, model: string): string {
  const curl = facts.snippets.find(({ name }) => name === 'curl')?.code ?? '';
  return curl.replaceAll('$GATEWAY_API_KEY', key).replaceAll(facts.model, model);
}
