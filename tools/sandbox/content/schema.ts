import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** The most values in one answer: a schema may ask for any number of items. */
const MOST_VALUES = 10_000;
/** Below this depth, only what the schema requires is made: a schema may contain itself. */
const DEPTH = 6;
/** A schema that requires itself would never end. */
const MOST_DEPTH = 64;

/** A value of each format, as validators know them. */
const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  time: '03:04:05Z',
  duration: 'P1DT2H',
  email: 'someone@example.com',
  'idn-email': 'someone@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  'uri-reference': '/path',
  uuid: '6f9619ff-8b86-4011-b42d-00c04fc964ff',
  byte: 'QUJD',
  base64: 'QUJD',
};

type Schema = Readonly<Record<string, unknown>>;

/**
 * A value that follows a JSON schema, as models with structured outputs write it. Types may be in capitals and bounds
 * may be strings. The same schema and prompt always give the same value. Patterns and conditions are ignored.
 * @throws ProviderFault 400 if it asks for too many values, or requires itself.
 */
export function valueFor(schema: unknown, prompt: string): unknown {
  return new Writer(schema, prompt).value(schema, 0, 0);
}

class Writer {
  readonly #root: unknown;
  readonly #text: string;
  #values = 0;

  constructor(root: unknown, prompt: string) {
    this.#root = root;
    this.#text = `${prompt.slice(0, 24).toWellFormed()} 世界 🌍`;
  }

  /** @param nth of an array's items, which may have to differ. */
  value(written: unknown, depth: number, nth: number): unknown {
    const schema = this.#resolved(written, depth);
    if ('const' in schema) return schema.const;
    const options = listOf(schema.enum);
    if (options.length > 0) return options[nth % options.length];
    switch (typeOf(schema)) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#array(schema, depth);
      case 'integer':
        return numberWithin(schema, 1, nth);
      case 'number':
        return numberWithin(schema, 0, nth);
      case 'boolean':
        return nth % 2 === 0;
      case 'null':
        return null;
      default:
        return this.#string(schema, nth);
    }
  }

  /** References followed, parts of `allOf` joined, one of the alternatives chosen. */
  #resolved(written: unknown, depth: number): Schema {
    this.#values += 1;
    if (this.#values > MOST_VALUES || depth > MOST_DEPTH) {
      throw new ProviderFault(400, 'The schema has no answer that is small enough; make it smaller.');
    }
    let schema = schemaIn(written);
    for (let step = 0; step < MOST_DEPTH; step++) {
      const { $ref, allOf, anyOf, oneOf, ...rest } = schema;
      if (typeof $ref === 'string') schema = joined(schemaIn(this.#at($ref)), rest);
      else if (listOf(allOf).length > 0) {
        const parts = listOf(allOf).map((part) => this.#resolved(part, depth + step + 1));
        schema = parts.reduce<Schema>(joined, {
          ...rest,
          ...(anyOf ? { anyOf } : {}),
          ...(oneOf ? { oneOf } : {}),
        });
      } else {
        const chosen = this.#chosen([...listOf(anyOf), ...listOf(oneOf)], depth);
        if (chosen === null) return rest;
        schema = joined(rest, schemaIn(chosen));
      }
    }
    return schema;
  }

  /** The first alternative that is not null; below the maximum depth, the simplest one. */
  #chosen(alternatives: readonly unknown[], depth: number): unknown {
    const isNull = (one: unknown) => typeOf(schemaIn(one)) === 'null';
    const isPlain = (one: unknown) =>
      !/object|array/.test(typeOf(schemaIn(one))) && !('$ref' in schemaIn(one));
    const short = alternatives.find(isNull) ?? alternatives.find(isPlain);
    if (depth > DEPTH && short !== undefined) return short;
    return alternatives.find((one) => !isNull(one)) ?? alternatives[0] ?? null;
  }

  /** What a pointer into the schema ("#/$defs/Step") names. */
  #at(reference: string): unknown {
    const names = reference
      .replace(/^#\/?/, '')
      .split('/')
      .filter((name) => name !== '');
    return names.reduce<unknown>((from, name) => {
      const key = decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
      return schemaIn(from)[key];
    }, this.#root);
  }

  #object(schema: Schema, depth: number): object {
    const properties = schemaIn(schema.properties);
    const names = [...listOf(schema.propertyOrdering).map(String), ...Object.keys(properties)];
    const required = Array.isArray(schema.required) ? schema.required.map(String) : null;
    const wanted = new Set(required === null && depth <= DEPTH ? names : [...(required ?? [])]);
    const ordered = [...new Set([...names, ...(required ?? [])])].filter((name) => wanted.has(name));
    const least = figure(schema.minProperties) ?? 0;
    const more = Array.from({ length: Math.max(0, least - ordered.length) }, (_, at) => `key_${at + 1}`);
    const entries = [...ordered, ...more].map((name) => [
      name,
      this.value(properties[name] ?? schema.additionalProperties ?? true, depth + 1, 0),
    ]);
    return Object.fromEntries(entries);
  }

  #array(schema: Schema, depth: number): readonly unknown[] {
    const items = Array.isArray(schema.items) ? undefined : schema.items;
    const first = listOf(schema.prefixItems ?? (items === undefined ? schema.items : []));
    const usual = items !== undefined && depth <= DEPTH ? 1 : 0;
    const least = Math.max(figure(schema.minItems) ?? usual, first.length);
    const length = Math.min(least, figure(schema.maxItems) ?? least, MOST_VALUES + 1);
    return Array.from({ length }, (_, at) => this.value(first[at] ?? items ?? true, depth + 1, at));
  }

  #string(schema: Schema, nth: number): string {
    const format = typeof schema.format === 'string' ? formats[schema.format] : undefined;
    if (format !== undefined) return format;
    const characters = [...(nth === 0 ? this.#text : `${nth} ${this.#text}`)];
    const least = Math.min(figure(schema.minLength) ?? 0, MOST_VALUES);
    while (characters.length < least) characters.push('x');
    return characters.slice(0, figure(schema.maxLength) ?? characters.length).join('');
  }
}

/** Both schemas joined, with the properties and required names of both. */
function joined(one: Schema, other: Schema): Schema {
  const properties = { ...schemaIn(one.properties), ...schemaIn(other.properties) };
  const required = [...listOf(one.required), ...listOf(other.required)];
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(Array.isArray(one.required) || Array.isArray(other.required) ? { required } : {}),
  };
}

/**
 * Its type in lower case, of several the first that is not null; otherwise the type that its keywords
 * suggest.
 */
function typeOf(schema: Schema): string {
  const types = [schema.type].flat().filter((type) => typeof type === 'string');
  const named = types.map((type) => type.toLowerCase());
  const type = named.find((one) => one !== 'null') ?? named[0];
  if (type !== undefined) return type;
  if ('properties' in schema || 'required' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema || 'minItems' in schema) return 'array';
  return 'minimum' in schema || 'maximum' in schema || 'multipleOf' in schema ? 'number' : 'string';
}

/** A number between the bounds, near 42. @param step 1 if it must be whole. */
function numberWithin(schema: Schema, step: 0 | 1, nth: number): number {
  const multiple = figure(schema.multipleOf);
  const unit = multiple !== null && multiple > 0 ? multiple : step;
  const gap = unit || 0.5;
  const above = schema.exclusiveMinimum === true ? figure(schema.minimum) : figure(schema.exclusiveMinimum);
  const below = schema.exclusiveMaximum === true ? figure(schema.maximum) : figure(schema.exclusiveMaximum);
  const least = Math.max(figure(schema.minimum) ?? -Infinity, above ?? -Infinity);
  const most = Math.min(figure(schema.maximum) ?? Infinity, below ?? Infinity);
  const near = Math.min(Math.max(42 + nth * gap, least), most);
  if (unit === 0) {
    const inner = Math.min(gap, (most - least) / 2);
    if (near === above) return near + inner;
    return near === below ? near - inner : near;
  }
  let units = Math.floor(near / unit);
  if (units * unit < least) units = Math.ceil(least / unit);
  if (units * unit === above) units += 1;
  if (units * unit === below) units -= 1;
  return units * unit;
}

function figure(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A schema for looking up keywords; `true`, and anything that is not a schema, allows everything. */
function schemaIn(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
