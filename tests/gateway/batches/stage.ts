import OpenAI, { toFile } from 'openai';
import type { Asker } from '#tests/gateway/resources/possessions';
import type { Stack } from '#tests/support/stack';

/** Who asks, with the official SDK. */
export interface Client extends Asker {
  readonly client: OpenAI;
  readonly slug: string;
}

export async function newClient(
  stack: Pick<Stack, 'url' | 'workspace' | 'key'>,
  settings: Parameters<Stack['workspace']>[0] = { rpm: 10_000 },
): Promise<Client> {
  const { slug } = await stack.workspace(settings);
  const { key } = await stack.key(slug);
  return {
    url: stack.url,
    key,
    slug,
    client: new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: key, maxRetries: 0 }),
  };
}

/** A line of a file of requests. */
export function lineOf(customId: string, fields: object = {}, endpoint = '/v1/chat/completions'): string {
  const body = {
    model: 'sandbox/echo',
    max_tokens: 16,
    messages: [{ role: 'user', content: 'Say hello' }],
    ...fields,
  };
  return JSON.stringify({ custom_id: customId, method: 'POST', url: endpoint, body });
}

export function linesOf(count: number, fields: object = {}): string[] {
  return Array.from({ length: count }, (_, index) => lineOf(`line-${index}`, fields));
}

export async function upload(
  { client }: Client,
  lines: readonly string[],
  purpose: 'batch' | 'user_data' = 'batch',
) {
  return client.files.create({
    file: await toFile(Buffer.from(lines.join('\n')), 'requests.jsonl'),
    purpose,
  });
}

/** Creates a batch that ends as the name says. */
export function begin({ client }: Client, fileId: string, wish = 'echo?job_ms=0') {
  return client.batches.create({
    input_file_id: fileId,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata: { sandbox: wish },
  });
}

/** Nano-dollars of the answers in a file of results, at the batch price of `sandbox/echo`: each line rounded up. */
export function costOf(results: string): bigint {
  let total = 0n;
  for (const line of results.split('\n').filter(Boolean)) {
    const { response } = JSON.parse(line);
    const usage = response?.status_code === 200 ? response.body.usage : null;
    if (!usage) continue;
    const cached = BigInt(usage.prompt_tokens_details?.cached_tokens ?? 0);
    const parts =
      (BigInt(usage.prompt_tokens) - cached) * 500n +
      cached * 125n +
      BigInt(usage.completion_tokens) * 2_000n;
    total += parts;
  }
  return total;
}
