/** Ready-made lines that work as pasted; `model` is one that exists here. */
export interface SnippetFacts {
  /** Address of the gateway, without a slash at the end. */
  readonly baseUrl: string;
  readonly model: string;
}

export function envSnippet(key: string, { baseUrl }: SnippetFacts): string {
  return `OPENAI_BASE_URL=${baseUrl}/v1\nOPENAI_API_KEY=${key}`;
}

export function curlSnippet(key: string, { baseUrl, model }: SnippetFacts): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Say hello.' }] });
  return [
    `curl ${baseUrl}/v1/chat/completions \\`,
    `  -H 'Authorization: Bearer ${key}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${body.replaceAll("'", "'\\''")}'`,
  ].join('\n');
}
