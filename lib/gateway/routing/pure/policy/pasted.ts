/** A request as somebody pasted it. */
export interface Pasted {
  /** "/v1/messages"; null: none was found. */
  readonly path: string | null;
  readonly body: Readonly<Record<string, unknown>> | null;
  /** The text itself, if it is a name. */
  readonly model: string | null;
  /** Why the body cannot be read; null: it can, or there is none. */
  readonly fault: string | null;
}

const pathShape = /\/v1(?:beta|alpha)?\/[^\s"'?]*/;

/**
 * Reads what people paste: the name of a model, the JSON of a body, a request line with a body below, or a whole
 * curl command. Pure.
 */
export function readPasted(text: string): Pasted {
  const trimmed = text.trim();
  const none: Pasted = { path: null, body: null, model: null, fault: null };
  if (trimmed === '') return none;
  const [from, to] = [trimmed.indexOf('{'), trimmed.lastIndexOf('}')];
  const head = from < 0 ? trimmed : trimmed.slice(0, from);
  const path = pathShape.exec(head)?.[0] ?? null;
  if (from < 0)
    return path === null ? { ...none, model: trimmed.replace(/^["']|["']$/g, '') } : { ...none, path };
  if (to < from) return { ...none, path, fault: 'The body has no closing }.' };
  // A shell closes and opens its quotes around one: '\''.
  const json = trimmed.slice(from, to + 1).replaceAll("'\\''", "'");
  try {
    const body: unknown = JSON.parse(json);
    if (typeof body === 'object' && body !== null && !Array.isArray(body))
      return { ...none, path, body: { ...body } };
    return { ...none, path, fault: 'The body is not a JSON object.' };
  } catch (error) {
    return {
      ...none,
      path,
      fault: `The body is not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}`,
    };
  }
}
