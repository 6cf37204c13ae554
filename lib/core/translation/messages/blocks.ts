import type {
  LanguageModelV4FilePart,
  LanguageModelV4TextPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { defined, type Field } from '#lib/core/translation/field';

type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

/** Types of blocks that a user's message may have here; `tool_result` is read apart. */
const userBlockTypes = ['text', 'image', 'document', 'search_result', 'tool_reference'] as const;

/** Text as a string or as blocks of text; empty text says nothing, and no provider accepts it. */
export function readText(field: Field): LanguageModelV4TextPart[] {
  if (typeof field.value === 'string') return textParts(field.value, {});
  return field.items().flatMap((block) => {
    block.get('type').oneOf('text');
    return readTextBlock(block);
  });
}

export function readTextBlock(block: Field): LanguageModelV4TextPart[] {
  return textParts(block.get('text').text(), cacheMark(block));
}

/** A block of a user's message, or of a tool's result. */
export function readUserBlock(block: Field): UserPart[] {
  const type = block.get('type').oneOf(...userBlockTypes);
  const options = cacheMark(block);
  switch (type) {
    case 'text':
      return readTextBlock(block);
    case 'image':
      return [{ ...readFile(block.get('source'), 'image'), ...options }];
    case 'document':
      return readDocument(block).map((part) => ({ ...part, ...options }));
    case 'search_result': {
      const lines = [block.get('title').text(), block.get('source').text()];
      for (const { text } of readText(block.get('content'))) lines.push(text);
      return textParts(lines.join('\n'), options);
    }
    case 'tool_reference':
      return [];
  }
}

/** Where the client wants the prompt to be cached; other protocols cache by themselves. */
export function cacheMark(block: Field): { providerOptions?: SharedV4ProviderOptions } {
  const cacheControl = block.get('cache_control').maybe((field) => field.jsonObject());
  return cacheControl ? { providerOptions: { anthropic: { cacheControl } } } : {};
}

/** A document that is text becomes text, behind its title. */
function readDocument(block: Field): UserPart[] {
  const source = block.get('source');
  const title = block.get('title').maybe((field) => field.text());
  switch (source.get('type').value) {
    case 'text':
      return textParts([title, source.get('data').text()].filter(Boolean).join('\n\n'), {});
    case 'content': {
      const content = source.get('content');
      const parts =
        typeof content.value === 'string' ? readText(content) : content.items().flatMap(readUserBlock);
      return [...textParts(title ?? '', {}), ...parts];
    }
    default:
      return [{ ...readFile(source, 'application/pdf'), ...defined({ filename: title }) }];
  }
}

function readFile(source: Field, typeByUrl: string): LanguageModelV4FilePart {
  const type = source.get('type');
  if (type.value === 'file') {
    type.refuse(
      'names a stored file, which only its own provider can read; send the data ("base64") or a URL.',
    );
  }
  return type.oneOf('base64', 'url') === 'url'
    ? { type: 'file', mediaType: typeByUrl, data: { type: 'url', url: source.get('url').url() } }
    : {
        type: 'file',
        mediaType: source.get('media_type').name(),
        data: { type: 'data', data: source.get('data').name() },
      };
}

function textParts(text: string, options: ReturnType<typeof cacheMark>): LanguageModelV4TextPart[] {
  return text === '' ? [] : [{ type: 'text', text, ...options }];
}
