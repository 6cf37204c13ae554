import type { HttpBinding, Operation } from '#lib/control/operations/declare';
import { badInput, quoted } from '#lib/control/operations/refusal';

interface Sent {
  readonly method: string;
  readBody(): Promise<string>;
}

/**
 * The input of an operation: what the address names, and the query of a GET or the JSON body of others.
 * @throws ControlRefused (invalid_body).
 */
export async function readInput(
  operation: Operation,
  binding: HttpBinding,
  { named, query }: { readonly named: Readonly<Record<string, string>>; readonly query: string },
  sent: Sent,
): Promise<unknown> {
  const given =
    operation.kind === 'read' ? readQuery(operation, query) : await readBody(binding, query, sent);
  for (const name of Object.keys(named)) {
    if (Object.hasOwn(given, name)) throw badInput(name, 'it is already in the path; leave it out here');
  }
  return { ...given, ...named };
}

function readQuery({ fields }: Operation, query: string): Record<string, unknown> {
  const given = new Map<string, unknown>();
  for (const [name, text] of new URLSearchParams(query)) {
    if (given.has(name)) throw badInput(quoted(name).slice(1, -1), 'it is in the query twice; send it once');
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    given.set(name, field ? field.fromText(text) : text);
  }
  return Object.fromEntries(given);
}

async function readBody(
  { body: whole }: HttpBinding,
  query: string,
  sent: Sent,
): Promise<Record<string, unknown>> {
  if (query !== '') throw badInput(null, 'this endpoint takes no query; send the fields as JSON in the body');
  const text = await sent.readBody();
  // Without fields, no body is needed.
  if (text.trim() === '') return {};
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw badInput(null, 'the body is not valid JSON');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw badInput(null, 'the body is not a JSON object');
  return whole === undefined ? { ...body } : { [whole]: body };
}
