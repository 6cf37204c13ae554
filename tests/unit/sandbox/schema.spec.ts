import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { valueFor } from '#tools/sandbox/content/schema';

const prompt = 'Plan a day';
const text = `${prompt} 世界 🌍`;

describe('an answer that follows a schema', () => {
  const step = z.object({ what: z.string().min(3), minutes: z.int().min(5).max(20) });
  const tree = z.object({
    name: z.string(),
    get left() {
      return tree.nullable();
    },
    get rest() {
      return z.array(tree);
    },
  });
  it.each([
    ['an object in an object', z.object({ a: z.object({ b: z.boolean(), c: z.null() }) })],
    ['enums and literals', z.object({ kind: z.enum(['x', 'y']), version: z.literal(7) })],
    ['arrays with bounds', z.object({ few: z.array(step).min(3).max(4), none: z.array(step).max(0) })],
    ['tuples', z.object({ pair: z.tuple([z.string(), z.number()]) })],
    ['alternatives', z.object({ one: z.union([step, z.string()]), other: z.nullable(z.int()) })],
    [
      'kinds that a field tells',
      z.discriminatedUnion('type', [z.object({ type: z.literal('a'), a: z.int() })]),
    ],
    ['intersections', z.intersection(z.object({ a: z.string() }), z.object({ b: z.int() }))],
    ['a schema within itself', tree],
    ['optional parts', z.object({ a: z.string().optional(), b: z.string() })],
    ['records', z.object({ map: z.record(z.string(), z.int()) })],
    [
      'numbers above and below',
      z.object({ a: z.number().gt(42).lt(42.2), b: z.int().gt(42), c: z.number().max(-3) }),
    ],
    ['multiples', z.object({ a: z.int().multipleOf(50).min(41), b: z.number().multipleOf(0.25).lt(42) })],
    ['lengths', z.object({ a: z.string().max(3), b: z.string().min(40), c: z.string().length(5) })],
    [
      'formats',
      z.object({ a: z.email(), b: z.uuid(), c: z.iso.datetime(), d: z.iso.date(), e: z.url(), f: z.ipv4() }),
    ],
  ])('%s', (_what, wanted) => {
    const schema = z.toJSONSchema(wanted);
    const value = valueFor(schema, prompt);
    expect(wanted.safeParse(value).error).toBeUndefined();
    expect(valueFor(schema, prompt)).toEqual(value);
  });

  it('accepts types in capitals, bounds as strings and a given order', () => {
    const schema = {
      type: 'OBJECT',
      propertyOrdering: ['b', 'a'],
      properties: {
        a: { type: 'INTEGER', minimum: '50', nullable: true },
        b: { type: 'ARRAY', minItems: '2', items: { type: 'STRING', enum: ['x', 'y'] } },
      },
    };
    expect(JSON.stringify(valueFor(schema, prompt))).toBe('{"b":["x","y"],"a":50}');
  });

  it('has only the required members if any are required', () => {
    const properties = { a: { type: 'string' }, b: { type: ['null', 'integer'] } };
    expect(valueFor({ properties }, prompt)).toEqual({ a: text, b: 42 });
    expect(valueFor({ properties, required: ['b'] }, prompt)).toEqual({ b: 42 });
  });

  it('follows references by pointer, and alternatives next to other keywords', () => {
    const schema = {
      definitions: { 'a/b': { const: 'found' } },
      type: 'object',
      properties: { a: { $ref: '#/definitions/a~1b' }, b: { $ref: '#/properties/a' } },
      oneOf: [{ required: ['a', 'b'] }],
    };
    expect(valueFor(schema, prompt)).toEqual({ a: 'found', b: 'found' });
  });

  it.each([
    ['requires itself', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }],
    ['asks for a billion', { type: 'array', minItems: 1e9, items: { type: 'string' } }],
    ['doubles at each level', { allOf: [{ $ref: '#' }, { $ref: '#' }] }],
  ])('is refused for a schema that %s', (_what, schema) => {
    expect(() => valueFor(schema, prompt)).toThrow(/make it smaller/);
  });

  it.each([[null], [true], [false], [5], ['x'], [{ type: 5 }], [{ $ref: '#/no/such' }], [{ $ref: '#' }]])(
    'is a text for a schema that says nothing: %j',
    (schema) => expect(valueFor(schema, prompt)).toBe(text),
  );
});
