import type { JSONSchema7, JSONValue } from '@ai-sdk/provider';
import { Field } from '#lib/core/translation/field';
import { toCamelCase } from '#lib/core/translation/generate-content/spellings';

/** Levels that a schema may have: no tool needs more, and each costs memory of the stack. */
const MAX_DEPTH = 100;

/** A schema as Google writes it (types in capitals, `nullable`, counts as strings) as a JSON schema. */
export function readSchema(field: Field): JSONSchema7 {
  return new Field(toJsonSchema(field, 0)).schema();
}

function toJsonSchema(field: Field, depth: number): Record<string, JSONValue> {
  if (depth > MAX_DEPTH) field.refuse(`is nested more than ${MAX_DEPTH} levels deep; send a flatter schema.`);
  const schema: Record<string, JSONValue> = {};
  let nullable = false;
  for (const name of Object.keys(field.object())) {
    const child = field.get(name);
    if (child.isAbsent) continue;
    const keyword = toCamelCase(name);
    switch (keyword) {
      case 'type': {
        const type = typeof child.value === 'string' ? child.value.toLowerCase() : child.json();
        if (type !== 'type_unspecified') schema.type = type;
        break;
      }
      case 'nullable':
        nullable = child.flag();
        break;
      case 'properties':
        schema.properties = Object.fromEntries(
          Object.keys(child.object()).map((one) => [one, toJsonSchema(child.get(one), depth + 1)]),
        );
        break;
      case 'items':
        schema.items = toJsonSchema(child, depth + 1);
        break;
      case 'anyOf':
        schema.anyOf = child.items().map((one) => toJsonSchema(one, depth + 1));
        break;
      case 'example':
        schema.examples = [child.json()];
        break;
      case 'format':
        if (child.value !== 'enum') schema.format = child.json();
        break;
      case 'propertyOrdering':
        break;
      default:
        // Google writes 64-bit counts, such as `minItems`, as strings.
        schema[keyword] = /^(min|max)/.test(keyword) ? Number(child.value) : child.json();
    }
  }
  return nullable ? withNull(schema) : schema;
}

function withNull(schema: Record<string, JSONValue>): Record<string, JSONValue> {
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] };
  if (typeof schema.type !== 'string') return schema;
  const values = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  return { ...schema, type: [schema.type, 'null'], ...values };
}
