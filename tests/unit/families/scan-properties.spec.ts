import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FieldSpec, type Found, scan } from '#lib/core/families/scan';

const spec: FieldSpec = {
  model: {},
  n: {},
  stream_options: { fields: { include_usage: {} } },
  tools: { each: { type: {} } },
};
/** Names that could collide with the spec are left to the examples. */
const key = fc.string({ unit: 'binary' }).filter((name) => !/^(model|n|stream_options|tools)$/i.test(name));
const anyObject = fc.dictionary(key, fc.jsonValue({ maxDepth: 4 }), { maxKeys: 6 });
const spaces = fc.constantFrom('', ' ', '\n', '\t \r\n');
const asked = fc.record(
  {
    model: fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant(null), fc.jsonValue()),
    n: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()),
    stream_options: fc.record({ include_usage: fc.boolean(), other: fc.jsonValue() }, { requiredKeys: [] }),
    tools: fc.array(fc.record({ type: fc.string(), x: fc.jsonValue() }, { requiredKeys: [] })),
  },
  { requiredKeys: [] },
);

/** Whether the platform takes the bytes: strict UTF-8 without a mark, JSON, an object. */
function platformAccepts(bytes: Uint8Array): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

describe('the scan agrees with JSON.parse', () => {
  it('on every object, however it is spaced', () => {
    fc.assert(
      fc.property(anyObject, asked, spaces, (rest, fields, space) => {
        const text = space + JSON.stringify({ ...rest, ...fields }, null, space) + space;
        expect(scan(Buffer.from(text), spec)).not.toHaveProperty('fault');
      }),
      { numRuns: 500 },
    );
  });

  it('on every byte at every place of a string', () => {
    for (let byte = 0; byte < 256; byte++) {
      for (let at = 0; at < 9; at++) {
        const bytes = Buffer.from('{"a":"abcdefghi","b":"\\n"}');
        bytes[6 + at] = byte;
        expect('fault' in scan(bytes, {})).toBe(!platformAccepts(bytes));
      }
    }
  });

  it('on bytes that were changed, cut and repeated anywhere', () => {
    const change = fc.record({
      at: fc.nat(),
      take: fc.nat(3),
      put: fc.oneof(
        fc.uint8Array({ maxLength: 3 }),
        fc
          .constantFrom('"', '\\', ',', '}', ']', '{', '[', ':', '0', '-', '.', 'e', 'true', ' ', '\\u')
          .map((t) => Buffer.from(t)),
      ),
    });
    fc.assert(
      fc.property(anyObject, fc.array(change, { minLength: 1, maxLength: 3 }), (object, changes) => {
        let bytes = Buffer.from(JSON.stringify(object));
        for (const { at, take, put } of changes) {
          const cut = at % (bytes.length + 1);
          bytes = Buffer.concat([bytes.subarray(0, cut), put, bytes.subarray(cut + take)]);
        }
        const result = scan(bytes, {});
        expect('fault' in result ? 'refused' : 'taken').toBe(platformAccepts(bytes) ? 'taken' : 'refused');
      }),
      { numRuns: 5_000 },
    );
  });

  it('on arbitrary texts that look like JSON', () => {
    const token = fc.constantFrom(...'{}[]:,"\\0123-+.eEtrufalsn \n/é'.split(''), '"a"', '1e5', 'null');
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), (tokens) => {
        const bytes = Buffer.from(`{"a":${tokens.join('')}}`);
        expect('fault' in scan(bytes, {})).toBe(!platformAccepts(bytes));
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('every range slices back to the value that was read', () => {
  const parsed = (bytes: Buffer, { start, end }: Found) => JSON.parse(bytes.toString('utf8', start, end));

  it('for guarded names, explicit nulls and collected values', () => {
    fc.assert(
      fc.property(anyObject, asked, spaces, (rest, fields, space) => {
        const bytes = Buffer.from(JSON.stringify({ ...rest, ...fields }, null, space));
        const result = scan(bytes, spec);
        if ('fault' in result) throw new Error(result.fault);
        for (const [name, value] of Object.entries(fields)) {
          const found = result.found.get(name) ?? result.nulls.get(name);
          if (found === undefined) throw new Error(`${name} was not found`);
          expect(parsed(bytes, found)).toEqual(JSON.parse(JSON.stringify(value)));
          if (found.value !== null) expect(found.value).toEqual(JSON.parse(JSON.stringify(value)));
        }
        const types = (fields.tools ?? []).flatMap((tool) => (tool.type === undefined ? [] : [tool.type]));
        expect(result.collected.map(({ value }) => value)).toEqual(types);
        expect(result.collected.map((found) => parsed(bytes, found))).toEqual(types);
      }),
      { numRuns: 500 },
    );
  });

  it('for names spelled with any escapes', () => {
    const escaped = fc.array(fc.boolean(), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(escaped, fc.string(), (mask, value) => {
        const name = [...'model']
          .map((c, i) => (mask[i] ? `\\u00${c.charCodeAt(0).toString(16)}` : c))
          .join('');
        const result = scan(Buffer.from(`{"${name}":${JSON.stringify(value)}}`), spec);
        if ('fault' in result) throw new Error(result.fault);
        expect(result.found.get('model')).toMatchObject({ spelling: 'model', value });
      }),
    );
  });
});
