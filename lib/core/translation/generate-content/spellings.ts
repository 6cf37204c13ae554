import type { FieldTable } from '#lib/core/translation/fates';
import type { Field } from '#lib/core/translation/field';

/** A field of a generateContent body in either spelling of the protobuf JSON mapping, `topK` or `top_k`. */
export function at(field: Field, name: string): Field {
  return field.get(name, toSnakeCase(name));
}

export function toCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The table with every path in every mixture of both spellings. */
export function inBothSpellings(table: FieldTable): FieldTable {
  const entries = Object.entries(table).flatMap(([path, fate]) =>
    spellingsOf(path.split('.')).map((spelling) => [spelling, fate] as const),
  );
  return Object.fromEntries(entries);
}

function spellingsOf([first = '', ...rest]: readonly string[]): readonly string[] {
  const names = new Set([first, toSnakeCase(first)]);
  if (rest.length === 0) return [...names];
  return spellingsOf(rest).flatMap((ending) => [...names].map((name) => `${name}.${ending}`));
}
