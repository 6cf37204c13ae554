import { z } from 'zod';
import type { Operation } from '#lib/control/operations/declare';
import { type Field, sentencesOf } from '#lib/control/operations/field/field';

/** JSON Schema, or another part of an OpenAPI document. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A field in a JSON body. */
export function valueSchema(field: Field): JsonSchema {
  return { ...schemaOf(field.schema, 'input'), ...factsOf(field) };
}

/** A field as a string in a path or query: what `fromText` reads. */
export function querySchema(field: Field): JsonSchema {
  const facts = factsOf(field);
  if (field.kind === 'switch') return { type: 'string', enum: ['on', 'off'], ...facts, examples: ['on'] };
  if (field.kind === 'models') {
    const examples = Array.isArray(field.example) ? { examples: [field.example.join(',')] } : {};
    return { type: 'string', ...facts, ...examples };
  }
  return { ...schemaOf(field.schema, 'input'), ...facts };
}

/** The answer of an operation. */
export function outputSchema({ output }: Operation): JsonSchema {
  return schemaOf(output, 'output');
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  // Refinements have no counterpart in JSON Schema; the server still applies them.
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

function factsOf(field: Field): JsonSchema {
  const { label, example, secret } = field;
  const description = sentencesOf(field);
  return {
    title: label,
    ...(description === '' ? {} : { description }),
    ...(example === undefined ? {} : { examples: [example] }),
    ...(secret ? { writeOnly: true } : {}),
  };
}
