import type { ScanFault } from '#lib/core/families/scan';

/** One parameter of a header: a token, then a token or a quoted string. */
const parameter = /\s*;\s*(?:([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\\r\n]|\\[^\r\n])*)"|([^\s;"]*)))?/y;
/** What RFC 2046 lets a boundary be. */
const boundaryText = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;

/** What every parser reads alike. */
export const plainCharsets: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii']);

/** Whether a Content-Type says that the body has parts, of whatever kind. */
export function isMultipart(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*multipart\//i.test(contentType);
}

/**
 * The boundary of a `multipart/form-data` body (RFC 7578, RFC 2046).
 * @returns what is wrong with the Content-Type when it names none, or more than one.
 */
export function readBoundary(contentType: string): string | ScanFault {
  const type = /^\s*multipart\/form-data\s*(?=;|$)/i.exec(contentType)?.[0];
  if (type === undefined) {
    return { fault: 'This Content-Type is not supported; send application/json or multipart/form-data.' };
  }
  const parameters = readParameters(contentType.slice(type.length));
  if (parameters === null) {
    return { fault: 'The Content-Type is malformed; send multipart/form-data with one boundary.' };
  }
  const named = parameters.filter(([name]) => name.startsWith('boundary'));
  const [only] = named;
  if (!only || named.length > 1 || only[0] !== 'boundary') {
    return { fault: 'The Content-Type must name one boundary; send multipart/form-data; boundary=….' };
  }
  // Some parsers read names and values in the charset that is named here.
  const charsets = parameters.filter(([name]) => name.startsWith('charset'));
  const isPlain = charsets.every(
    ([name, text]) => name === 'charset' && plainCharsets.has(text.toLowerCase()),
  );
  if (!isPlain || charsets.length > 1) {
    return { fault: 'The Content-Type names a charset other than UTF-8; encode names and values as UTF-8.' };
  }
  return boundaryText.test(only[1])
    ? only[1]
    : { fault: 'The boundary in the Content-Type is not valid; use 1 to 70 letters, digits and dashes.' };
}

/**
 * The parameters after a header's first value: names in lower case, values with their escapes.
 * @returns null if what follows is not a list of parameters.
 */
export function readParameters(text: string): readonly (readonly [name: string, value: string])[] | null {
  const parameters: [string, string][] = [];
  parameter.lastIndex = 0;
  let end = 0;
  for (let found = parameter.exec(text); found !== null; found = parameter.exec(text)) {
    const [, name, quoted, plain] = found;
    end = parameter.lastIndex;
    if (name !== undefined) {
      parameters.push([name.toLowerCase(), quoted ?? plain ?? '']);
    }
  }
  return text.slice(end).trim() === '' ? parameters : null;
}
