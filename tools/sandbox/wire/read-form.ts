import { readJson } from '#tools/sandbox/content/tool-call';
import type { ReceivedRequest } from '#tools/sandbox/dialect';
import { missingParameter, ProviderFault, unknownParameter } from '#tools/sandbox/scenario/provider-fault';

interface Form {
  readonly texts: ReadonlyMap<string, string>;
  /** Parts with a file name. */
  readonly files: readonly { readonly name: string; readonly bytes: Buffer }[];
}

/** The fields of a request for media, from a form or JSON. */
export interface Fields {
  /** Values as text. */
  readonly texts: ReadonlyMap<string, string>;
  readonly prompt: string;
  /** Files of a form. */
  readonly files: Form['files'];
  /** Members of a JSON body. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** @throws ProviderFault 400 for a body that cannot be read, a field that is not known, or no prompt. */
export function readFields(seen: ReceivedRequest, known: ReadonlySet<string>): Fields {
  const form = readForm(seen);
  const members = form ? {} : readJson(seen.body);
  const given = Object.entries(members).filter(([, value]) => value !== null);
  const texts = form?.texts ?? new Map(given.map(([name, value]) => [name, String(value)]));
  const strange = [...texts.keys()].find((name) => !known.has(name.replace(/\[.*/, '')));
  if (strange !== undefined) throw unknownParameter(strange);
  const prompt = texts.get('prompt');
  if (!prompt) throw missingParameter('prompt');
  return { texts, prompt, files: form?.files ?? [], members };
}

/**
 * The parts of a multipart request; null: it is not one. @throws ProviderFault 400 if its delimiters cannot
 * be found.
 */
export function readForm({ headers, body }: ReceivedRequest): Form | null {
  const type = headers['content-type'] ?? '';
  if (!/^multipart\/form-data/i.test(type)) return null;
  const boundary = /boundary="?([^";]+)"?/i.exec(type)?.[1];
  if (boundary === undefined) throw new ProviderFault(400, 'The multipart body has no boundary.');
  const delimiter = `\r\n--${boundary}`;
  // The first delimiter has no line before it.
  const bytes = Buffer.concat([Buffer.from('\r\n'), body]);
  const texts = new Map<string, string>();
  const files: { name: string; bytes: Buffer }[] = [];
  let at = bytes.indexOf(delimiter);
  while (at >= 0 && bytes.toString('latin1', at + delimiter.length, at + delimiter.length + 2) !== '--') {
    const headStart = at + delimiter.length + 2;
    const headEnd = bytes.indexOf('\r\n\r\n', headStart);
    const next = bytes.indexOf(delimiter, headEnd + 4);
    if (headEnd < 0 || next < 0) throw new ProviderFault(400, 'The multipart body ends too early.');
    const head = bytes.toString('utf8', headStart, headEnd);
    const name = /\bname="([^"]*)"/.exec(head)?.[1] ?? '';
    const value = bytes.subarray(headEnd + 4, next);
    if (/\bfilename="|^content-type: *application\/octet-stream/im.test(head))
      files.push({ name, bytes: value });
    else texts.set(name, value.toString('utf8'));
    at = next;
  }
  if (at < 0) throw new ProviderFault(400, 'The multipart body has no closing delimiter.');
  return { texts, files };
}
