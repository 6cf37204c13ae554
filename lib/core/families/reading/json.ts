/** Reading parsed JSON of a provider, whose shape is not guaranteed. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object; null for anything else. */
export function objectIn(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? asObject(value) : null;
}

/** A non-null object that is not an array can be read by any key. */
function asObject(value: object): JsonObject {
  return value as JsonObject;
}

/** A member of any JSON; undefined: the value has none of this name. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return Reflect.get(value, name);
}

/** The value as a list; empty for anything else. */
export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A non-empty string; null for anything else. */
export function textIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** UTF-8 bytes of a string; 0 for anything else. */
export function textBytes(value: unknown): number {
  return typeof value === 'string' ? Buffer.byteLength(value) : 0;
}

/** Parses text of a provider; undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether an event is an error: by its name, by its type, or because it has no type and an `error` member. */
export function isError(name: string | null, event: JsonObject): boolean {
  if (name === 'error' || event.type === 'error') return true;
  return event.type === undefined && (event.error ?? null) !== null;
}
