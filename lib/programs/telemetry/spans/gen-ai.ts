import type { Usage } from '#lib/core/metering/usage';
import { type Attribute, present } from '#lib/programs/telemetry/spans/span';

/** Names of the GenAI semantic conventions for our operations; other operations generate nothing. */
const operations: Readonly<Record<string, { readonly name: string; readonly output?: string }>> = {
  'chat.create': { name: 'chat' },
  'responses.create': { name: 'chat' },
  'responses.compact': { name: 'chat' },
  'messages.create': { name: 'chat' },
  'content.generate': { name: 'generate_content' },
  'content.stream': { name: 'generate_content' },
  'content.predictLongRunning': { name: 'generate_content', output: 'video' },
  'completions.create': { name: 'text_completion' },
  'embeddings.create': { name: 'embeddings' },
  'content.embed': { name: 'embeddings' },
  'content.embed_batch': { name: 'embeddings' },
  'audio.speech': { name: 'generate_content', output: 'speech' },
  'audio.transcription': { name: 'generate_content', output: 'text' },
  'audio.translation': { name: 'generate_content', output: 'text' },
  'realtime.create': { name: 'chat' },
  'images.generate': { name: 'generate_content', output: 'image' },
  'images.edit': { name: 'generate_content', output: 'image' },
  'videos.create': { name: 'generate_content', output: 'video' },
  'videos.edit': { name: 'generate_content', output: 'video' },
  'videos.extend': { name: 'generate_content', output: 'video' },
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

/** `{operation} {model}`, by the conventions; only models of the catalogue, because other names are untrusted. */
export function spanName(operation: string, model: string | null): string {
  const name = operations[operation]?.name ?? operation;
  return model === null ? name : `${name} ${model}`;
}

export function providerName(provider: string): string {
  return providers[provider] ?? provider;
}

/** Tokens: the conventions count everything read into the input, and reasoning into the output, as providers do. */
export function tokenAttributes(usage: Usage): Attribute[] {
  const { input, cachedInput, cacheWrite5m, cacheWrite1h, output, reasoning } = usage;
  const written = cacheWrite5m + cacheWrite1h;
  return present([
    ['gen_ai.usage.input_tokens', whole(input + cachedInput + written)],
    ['gen_ai.usage.output_tokens', whole(output)],
    ['gen_ai.usage.cache_read.input_tokens', cachedInput > 0 ? whole(cachedInput) : null],
    ['gen_ai.usage.cache_creation.input_tokens', written > 0 ? whole(written) : null],
    ['gen_ai.usage.reasoning.output_tokens', reasoning > 0 ? whole(reasoning) : null],
  ]);
}

/** An int64; 0 if it is not a finite number. */
export function whole(figure: number): bigint {
  return Number.isFinite(figure) ? BigInt.asIntN(64, BigInt(Math.round(figure))) : 0n;
}
