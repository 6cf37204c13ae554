import type { Usage } from '#lib/core/metering/usage';
import type { Attribute } from '#lib/programs/telemetry/spans/span';

/** Names of the GenAI semantic conventions for what our operations do; the others generate nothing. */
const operations: Readonly<Record<string, { readonly name: string; readonly output?: string }>> = {
  'chat.create': { name: 'chat' },
  'responses.create': { name: 'chat' },
  'messages.create': { name: 'chat' },
  'content.generate': { name: 'generate_content' },
  'content.stream': { name: 'generate_content' },
  'content.predictLongRunning': { name: 'generate_content', output: 'video' },
  'images.generate': { name: 'generate_content', output: 'image' },
  'images.edit': { name: 'generate_content', output: 'image' },
  'videos.create': { name: 'generate_content', output: 'video' },
  'videos.remix': { name: 'generate_content', output: 'video' },
};

/** Providers whose names in the conventions differ from those of the catalogue. */
const providers: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  mistral: 'mistral_ai',
  xai: 'x_ai',
};

/** `gen_ai.operation.name` and `gen_ai.output.type`; none for an operation that generates nothing. */
export function operationAttributes(operation: string): Attribute[] {
  const known = operations[operation];
  if (!known) return [];
  const name: Attribute = ['gen_ai.operation.name', known.name];
  return known.output === undefined ? [name] : [name, ['gen_ai.output.type', known.output]];
}

/** `{operation} {model}`, by the conventions; a model that is not in the catalogue would be a name of a stranger's. */
export function spanName(operation: string, model: string | null): string {
  const name = operations[operation]?.name ?? operation;
  return model === null ? name : `${name} ${model}`;
}

export function providerAttribute(provider: string): Attribute {
  return ['gen_ai.provider.name', providers[provider] ?? provider];
}

/** Tokens: the conventions count everything read into the input, and reasoning into the output, as providers do. */
export function tokenAttributes(usage: Usage): Attribute[] {
  const { input, cachedInput, cacheWrite5m, cacheWrite1h, output, reasoning } = usage;
  const written = cacheWrite5m + cacheWrite1h;
  const found: Attribute[] = [
    ['gen_ai.usage.input_tokens', whole(input + cachedInput + written)],
    ['gen_ai.usage.output_tokens', whole(output)],
  ];
  if (cachedInput > 0) found.push(['gen_ai.usage.cache_read.input_tokens', whole(cachedInput)]);
  if (written > 0) found.push(['gen_ai.usage.cache_creation.input_tokens', whole(written)]);
  if (reasoning > 0) found.push(['gen_ai.usage.reasoning.output_tokens', whole(reasoning)]);
  return found;
}

/** An int64; what is no number counts as 0. */
export function whole(figure: number): bigint {
  return Number.isFinite(figure) ? BigInt.asIntN(64, BigInt(Math.round(figure))) : 0n;
}
