import { model, nestedModel } from '#tests/gateway/contract/recorded/catalogue';
import { asksForeignThings } from '#tests/gateway/contract/recorded/exceptions';
import type { Exchange } from '#tests/gateway/contract/recorded/recording';
import { record } from '#tools/sandbox/content/tool-call';

/** How a client asks for a recorded answer: as it was asked for, where that was recorded. */
export interface Question {
  readonly family: string;
  readonly operation: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** By which header its clients send their key. */
  readonly credential: 'authorization' | 'x-api-key' | 'x-goog-api-key';
  readonly body: string;
  /** What the provider must see of it. */
  readonly upstreamTarget: string;
  readonly received: string;
}

interface Way {
  readonly family: string;
  readonly operation: string;
  /** Behind the versioned root. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const messages = [{ role: 'user', content: 'Say hello.' }];
const contents = [{ role: 'user', parts: [{ text: 'Say hello.' }] }];

/** @param less the client does not ask for usage by itself. */
export function questionOf(exchange: Exchange, less = false): Question {
  const { mark, file, asked, query } = exchange;
  const way = wayOf(exchange);
  const recordedText = asksForeignThings.has(file) ? null : asked;
  const content = way.family === 'generate-content';
  let body = recordedText ?? JSON.stringify(way.body);
  if (exchange.stream && !content) body = streamed(body);
  body = content ? withQualifiedModel(body) : withModel(body);
  if (way.family === 'chat' && asksForStream(body)) body = less ? withoutUsage(body) : withUsage(body);
  const search = content ? (exchange.stream && !isArray(exchange) ? '?alt=sse' : '') : query && `?${query}`;
  const root = content ? '/v1beta' : '/v1';
  const target = content ? way.path.replace('{model}', model.slug) : way.path;
  return {
    family: way.family,
    operation: way.operation,
    target: `${root}${target}${search}`,
    headers: {
      'user-agent': mark,
      'content-type': 'application/json',
      ...(way.family === 'messages' ? { 'anthropic-version': '2023-06-01' } : {}),
    },
    credential: content ? 'x-goog-api-key' : way.family === 'messages' ? 'x-api-key' : 'authorization',
    body,
    // The chat family's own API has no query; `api-version` is for the host that it was recorded at.
    upstreamTarget: `${way.path.replace('{model}', model.upstream)}${way.family === 'chat' ? '' : search}`,
    received: (way.family === 'chat' ? withOwnLimit(body) : body)
      .replaceAll(`"${model.slug}"`, `"${model.upstream}"`)
      .replaceAll(`"models/${model.slug}"`, `"models/${model.upstream}"`)
      .replaceAll(`"${nestedModel.slug}"`, `"${nestedModel.upstream}"`),
  };
}

/** A stream without `alt=sse`. */
function isArray({ body }: Exchange): boolean {
  return body.toString('latin1', 0, 1) === '[';
}

function wayOf({ family, path, file, stream }: Exchange): Way {
  if (family.startsWith('chat')) {
    return { family: 'chat', operation: 'chat.create', path: '/chat/completions', body: { messages } };
  }
  if (family.startsWith('responses')) {
    const input = 'Say hello.';
    return { family: 'responses', operation: 'responses.create', path: '/responses', body: { input } };
  }
  if (family === 'messages') {
    const counts = path?.endsWith('/count_tokens');
    return {
      family,
      operation: counts ? 'messages.count_tokens' : 'messages.create',
      path: counts ? '/messages/count_tokens' : '/messages',
      body: { max_tokens: 100, messages },
    };
  }
  if (family === 'images') {
    const edits = path?.endsWith('/edits') ?? file.includes('image-edit');
    const images = [{ image_url: 'data:image/png;base64,AAAA' }];
    return edits
      ? { family, operation: 'images.edit', path: '/images/edits', body: { prompt: 'A hat', images } }
      : { family, operation: 'images.generate', path: '/images/generations', body: { prompt: 'A hat' } };
  }
  if (family === 'videos' && !path?.includes(':')) {
    const body = { prompt: 'A hat', seconds: '8', size: '1024x1792' };
    return { family, operation: 'videos.create', path: '/videos', body };
  }
  const verb = path?.split(':').at(-1) ?? (stream ? 'streamGenerateContent' : 'generateContent');
  return {
    family: 'generate-content',
    operation: `content.${operationOf[verb] ?? verb}`,
    path: `/models/{model}:${verb}`,
    body: { contents },
  };
}

const operationOf: Readonly<Record<string, string>> = {
  generateContent: 'generate',
  streamGenerateContent: 'stream',
  countTokens: 'count',
};

/** The recorded text with the names of the catalogue in place of the provider's, and nothing else changed. */
function withModel(text: string): string {
  const asked = record(JSON.parse(text));
  const named = typeof asked.model === 'string' ? asked.model : null;
  if (named === null) return text.replace('{', `{"model":"${model.slug}",`);
  const own = text.replace(field('model', named), `$1"${model.slug}"`);
  const tools = Array.isArray(asked.tools) ? asked.tools.map(record) : [];
  const nested = tools.flatMap((tool) => (typeof tool.model === 'string' ? [tool.model] : []));
  return nested.reduce((done, name) => done.replace(field('model', name), `$1"${nestedModel.slug}"`), own);
}

function field(name: string, value: string): RegExp {
  return new RegExp(`("${name}"\\s*:\\s*)"${value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}"`);
}

/** Counting may name the model once more, in the body. */
function withQualifiedModel(text: string): string {
  return text.replace(/("model"\s*:\s*)"models\/[^"]+"/, `$1"models/${model.slug}"`);
}

/** The bound under the name that the offer knows. */
function withOwnLimit(text: string): string {
  return 'max_tokens' in record(JSON.parse(text))
    ? text
    : text.replace('"max_completion_tokens"', '"max_tokens"');
}

function asksForStream(text: string): boolean {
  return record(JSON.parse(text)).stream === true;
}

function streamed(text: string): string {
  return asksForStream(text) ? text : text.replace('{', '{"stream":true,');
}

function withUsage(text: string): string {
  const { stream_options } = record(JSON.parse(text));
  return stream_options ? text : text.replace('{', '{"stream_options":{"include_usage":true},');
}

function withoutUsage(text: string): string {
  const { stream_options: _gone, ...rest } = record(JSON.parse(text));
  return JSON.stringify(rest);
}
