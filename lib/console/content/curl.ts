import type { ShownContent } from '#lib/control/operations/content/shown';
import { operations } from '#lib/core/families/index';

/** Which request it was. */
interface AskedCall {
  readonly operation: string;
  readonly requestedModel: string | null;
}

/** Longer arguments are refused by Linux (128 KiB), so the body goes through a pipe. */
const longestArgument = 100_000;

/**
 * A kept request as a command for a POSIX shell, with its body byte for byte and a variable in place of the key; null: the body is
 * not whole, or the address names something besides the model, which was not kept. Pure.
 * @param base address of the gateway, without a slash at the end.
 */
export function curlOf(
  { operation: name, requestedModel }: AskedCall,
  { request, answer }: Pick<ShownContent, 'request' | 'answer'>,
  base: string,
): string | null {
  const { text, cut, contentType } = request;
  const operation = operations.find((one) => one.name === name && one.method === 'POST');
  if (operation === undefined || text === null || text === '' || cut || text.includes('\0')) return null;
  // The slashes of a slug are part of the address.
  const slug = (requestedModel ?? '').split('/').map(encodeURIComponent).join('/');
  const path = operation.path.replace('{model+}', slug);
  if (path.includes('{') || (slug === '' && operation.path.includes('{model+}'))) return null;
  const events = name === 'content.stream' && answer.contentType.startsWith('text/event-stream');
  const address = `${base}/${operation.prefixes[0]}/${path}${events ? '?alt=sse' : ''}`;
  const head = [
    `curl ${quoted(address)}`,
    '-H "Authorization: Bearer $MODEL_GATEWAY_KEY"',
    `-H ${quoted(`Content-Type: ${contentType || 'application/json'}`)}`,
  ];
  if (text.length <= longestArgument) return [...head, `--data-raw ${quoted(text)}`].join(' \\\n  ');
  return `printf %s ${quoted(text)} | ${[...head, '--data-binary @-'].join(' \\\n  ')}`;
}

/** Within single quotes, a shell changes nothing, line breaks included. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
