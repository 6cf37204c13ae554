import type { Field, Fields } from '#lib/control/operations/field/field';
import { atWallTime } from '#lib/core/charts/wall-time';

/** The filters of a list, as in the URL of its page. */
export interface ListUrl {
  /** As written, by name; only those that are given. */
  readonly texts: Readonly<Record<string, string>>;
  /** As input of the list's operation; invalid filters are left out. */
  readonly input: Readonly<Record<string, unknown>>;
  /** What is wrong with invalid filters: "Status: write an HTTP status …". */
  readonly faults: readonly string[];
}

type Query = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Reads the declared fields of a list from a URL's query. @param zone IANA zone in which times are written.
 */
export function readListUrl(fields: Fields, query: Query, zone: string): ListUrl {
  const texts: Record<string, string> = {};
  const input: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const text = [query[name]].flat()[0]?.trim();
    if (!text) continue;
    texts[name] = text;
    const value = inputOf(field, text, zone);
    const read = field.schema.safeParse(value);
    if (read.success) input[name] = value;
    else faults.push(`${field.label}: ${read.error.issues[0]?.message ?? 'invalid value'}`);
  }
  return { texts, input, faults };
}

function inputOf(field: Field, text: string, zone: string): unknown {
  const moment = field.kind === 'moment' ? atWallTime(text, zone) : null;
  return moment ? moment.toISOString() : field.fromText(text);
}

/** The URL of a list: `listUrl('/acme/logs', { status: '4xx' })`. */
export function listUrl(path: string, texts: Readonly<Record<string, string | null | undefined>>): string {
  const given = Object.entries(texts).flatMap(([name, text]) => (text ? [[name, text]] : []));
  const query = new URLSearchParams(given).toString();
  return query === '' ? path : `${path}?${query}`;
}
