import type { ReceivedRequest } from '#tools/sandbox/dialect';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** A part with a file name. */
export interface FormFile {
  readonly name: string;
  readonly filename: string;
  readonly type: string;
  readonly bytes: Buffer;
}

export interface Form {
  /** Text parts in order, by name; a name may stand several times. */
  readonly texts: readonly (readonly [name: string, value: string])[];
  readonly files: readonly FormFile[];
}

/**
 * The parts of a multipart request; null when it is none.
 * @throws ProviderFault 400 when its delimiters cannot be found.
 */
export function readForm({ headers, body }: ReceivedRequest): Form | null {
  const type = headers['content-type'] ?? '';
  if (!/^multipart\/form-data/i.test(type)) return null;
  const boundary = /boundary="?([^";]+)"?/i.exec(type)?.[1];
  if (boundary === undefined) throw new ProviderFault(400, 'The multipart body has no boundary.');
  const delimiter = `\r\n--${boundary}`;
  // The first delimiter has no line before it.
  const bytes = Buffer.concat([Buffer.from('\r\n'), body]);
  const texts: [string, string][] = [];
  const files: FormFile[] = [];
  let at = bytes.indexOf(delimiter);
  while (at >= 0 && bytes.toString('latin1', at + delimiter.length, at + delimiter.length + 2) !== '--') {
    const headStart = at + delimiter.length + 2;
    const headEnd = bytes.indexOf('\r\n\r\n', headStart);
    const next = bytes.indexOf(delimiter, headEnd + 4);
    if (headEnd < 0 || next < 0) throw new ProviderFault(400, 'The multipart body ends too early.');
    const head = bytes.toString('utf8', headStart, headEnd);
    const name = /\bname="([^"]*)"/.exec(head)?.[1] ?? '';
    const filename = /\bfilename="([^"]*)"/.exec(head)?.[1];
    const value = bytes.subarray(headEnd + 4, next);
    if (filename === undefined) texts.push([name, value.toString('utf8')]);
    else files.push({ name, filename, type: /^content-type:\s*(\S+)/im.exec(head)?.[1] ?? '', bytes: value });
    at = next;
  }
  if (at < 0) throw new ProviderFault(400, 'The multipart body has no closing delimiter.');
  return { texts, files };
}
