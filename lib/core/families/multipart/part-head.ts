import { isUtf8 } from 'node:buffer';
import { plainCharsets, readParameters } from '#lib/core/families/multipart/boundary';

/** What the headers of a part say. */
export interface PartHead {
  /** As the client wrote it: "image[]", "svg[model]". */
  readonly name: string;
  /** Of a file; "": a file without a name, as Anthropic's SDK for Python sends bytes; null: text. */
  readonly filename: string | null;
  /** Lower case, without parameters; null: none. */
  readonly mediaType: string | null;
  /** The text is its bytes in UTF-8: no other charset, no transfer encoding. */
  readonly plain: boolean;
}

/** A part of this type is a file, with a file name or without one (contract: body/multipart). */
export const BYTES = 'application/octet-stream';
const plainEncodings = new Set(['7bit', '8bit', 'binary']);

/**
 * Reads the header lines of a part, their last line end left out. Strict where parsers are known to
 * differ: what the provider reads must be what was read here (contract: body/multipart-agreement).
 * @returns what is wrong, as the end of a sentence about the part.
 */
export function readPartHead(bytes: Buffer): PartHead | string {
  if (!isUtf8(bytes)) return 'has headers that are not UTF-8';
  const headers = new Map<string, string>();
  for (const line of bytes.toString('utf8').split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    // A folded line starts with a space: no token either.
    if (colon < 1 || !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || hasControls(line)) {
      return 'has a header line that cannot be read';
    }
    if (headers.has(name)) return `has the header "${name}" twice`;
    headers.set(name, line.slice(colon + 1).trim());
  }
  return headOf(headers);
}

function headOf(headers: ReadonlyMap<string, string>): PartHead | string {
  const disposition = headers.get('content-disposition') ?? '';
  const kind = /^form-data\s*(?=;|$)/i.exec(disposition)?.[0];
  const parameters = kind === undefined ? null : readParameters(disposition.slice(kind.length));
  if (parameters === null) return 'needs the header Content-Disposition: form-data; name="…"';
  const names = valuesOf(parameters, 'name');
  const files = valuesOf(parameters, 'filename');
  const [name] = names;
  if (name === undefined || names.length > 1 || valuesOf(parameters, 'name*').length > 0) {
    return 'needs exactly one name in its Content-Disposition';
  }
  // Some parsers unescape, some do not.
  if (/[\\"]/.test(name) || name === '') return 'has a name that is empty or contains quotes or backslashes';
  if (files.length > 1) return 'has two filenames';
  const [mediaType = ''] = (headers.get('content-type') ?? '').split(';', 1);
  const type = mediaType.trim().toLowerCase();
  const unnamed = type === BYTES ? '' : null;
  const typed = readParameters((headers.get('content-type') ?? '').slice(mediaType.length));
  const charset = typed && (valuesOf(typed, 'charset')[0] ?? 'utf-8');
  const encoding = headers.get('content-transfer-encoding') ?? 'binary';
  return {
    name,
    filename: files[0] ?? valuesOf(parameters, 'filename*')[0] ?? unnamed,
    mediaType: type || null,
    plain:
      plainEncodings.has(encoding.toLowerCase()) &&
      charset !== null &&
      plainCharsets.has(charset.toLowerCase()),
  };
}

function valuesOf(parameters: readonly (readonly [string, string])[], wanted: string): string[] {
  return parameters.flatMap(([name, value]) => (name === wanted ? [value] : []));
}

/** A header line may contain tabs, but no other control characters. */
function hasControls(line: string): boolean {
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return true;
  }
  return false;
}
