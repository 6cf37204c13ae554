import type { JSONSchema7, JSONValue, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { type JsonObject, objectIn } from '#lib/core/families/reading/json';
import type { ReadRequest, Unreadable } from '#lib/core/translation/conversation';

/** A field that cannot be read. Only `readOrExplain` sees it. */
class WrongField extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** What `read` returns, or why it could not go on. */
export function readOrExplain(read: () => ReadRequest): ReadRequest | Unreadable {
  try {
    return read();
  } catch (error) {
    if (error instanceof WrongField) return { field: error.field, message: error.message };
    // The stack has no room for the levels of the body.
    if (error instanceof RangeError)
      return { field: '', message: 'The body is nested too deeply; send a flatter one.' };
    throw error;
  }
}

/** A value of a parsed body with its path. The methods that expect a type end the reading if the value has another. */
export class Field {
  readonly value: unknown;
  /** As `messages[2].content`; the body itself has none. */
  readonly path: string;

  constructor(value: unknown, path = '') {
    this.value = value;
    this.path = path;
  }

  /** Missing, or null, which means the same. */
  get isAbsent(): boolean {
    return this.value === undefined || this.value === null;
  }

  /** A field of this object, under the first of the names that it has. */
  get(name: string, ...otherSpellings: readonly string[]): Field {
    const object = this.object();
    const found = [name, ...otherSpellings].find((one) => (object[one] ?? null) !== null) ?? name;
    return new Field(object[found], this.path === '' ? found : `${this.path}.${found}`);
  }

  /** What `read` makes of this field; undefined if it is absent. */
  maybe<T>(read: (field: Field) => T): T | undefined {
    return this.isAbsent ? undefined : read(this);
  }

  object(): JsonObject {
    return objectIn(this.value) ?? this.wrong('an object');
  }

  /** The elements of a list; none if it is absent. */
  items(): readonly Field[] {
    if (this.isAbsent) return [];
    if (!Array.isArray(this.value)) return this.wrong('a list');
    return this.value.map((value, index) => new Field(value, `${this.path}[${index}]`));
  }

  /** A string, also an empty one. */
  text(): string {
    return typeof this.value === 'string' ? this.value : this.wrong('a string');
  }

  /** A string that is not empty. */
  name(): string {
    return this.text() || this.wrong('a string that is not empty');
  }

  oneOf<T extends string>(...values: readonly T[]): T {
    const found = values.find((value) => value === this.value);
    return found ?? this.wrong(values.map((value) => `"${value}"`).join(' or '));
  }

  number(): number {
    return typeof this.value === 'number' ? this.value : this.wrong('a number');
  }

  /** @param least the smallest number that is allowed. */
  whole(least: number): number {
    const { value } = this;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
    return this.wrong(`a whole number, ${least} or more`);
  }

  flag(): boolean {
    return typeof this.value === 'boolean' ? this.value : this.wrong('true or false');
  }

  url(): URL {
    const url = URL.canParse(this.text()) ? new URL(this.text()) : null;
    return url ?? this.wrong('a complete URL');
  }

  /** Anything: the body was parsed from JSON, so it is JSON. */
  json(): JSONValue {
    return this.value as JSONValue;
  }

  jsonObject(): Record<string, JSONValue> {
    return this.object() as Record<string, JSONValue>;
  }

  /** An object that is taken for a JSON schema; only the provider knows what it accepts. */
  schema(): JSONSchema7 {
    return this.object() as JSONSchema7;
  }

  wrong(expected: string): never {
    throw new WrongField(this.path, `Field "${this.path}" must be ${expected}.`);
  }

  /** @param why goes on after the field's name, and says what to send instead. */
  refuse(why: string): never {
    throw new WrongField(this.path, `Field "${this.path}" ${why}`);
  }
}

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** The entries that are not undefined. */
export function defined<T extends object>(entries: T): Defined<T> {
  const kept = Object.entries(entries).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as Defined<T>;
}

/** Options for several packages, as a part of an object; packages without any are left out. */
export function withOptions(options: SharedV4ProviderOptions): {
  providerOptions?: SharedV4ProviderOptions;
} {
  const given = Object.entries(options).filter(([, entries]) => Object.keys(entries).length > 0);
  return given.length > 0 ? { providerOptions: Object.fromEntries(given) } : {};
}
