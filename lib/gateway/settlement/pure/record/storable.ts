/** Longest string of a row: what clients and providers send is untrusted. */
export const mostText = 1000;

/** Plain text needs no escapes in JSON and contains nothing that PostgreSQL refuses. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** Text without what PostgreSQL refuses: NUL and halves of surrogate pairs; at most 1,000 characters. */
export function storable(value: string): string {
  return value.slice(0, mostText).replaceAll('\u0000', '\uFFFD').toWellFormed();
}

/** The same as JSON, in ASCII. */
export function jsonOf(value: string | null): string {
  if (value === null) return 'null';
  if (value.length <= mostText && plain.test(value)) return `"${value}"`;
  return asciiJson(JSON.stringify(storable(value)));
}

/** JSON text with every other character escaped: the same value in ASCII. */
export function asciiJson(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
