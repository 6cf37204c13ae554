import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits, insertMember } from '#lib/core/families/edits';
import type { Edit } from '#lib/core/families/family';

const textAfter = (body: string, edits: readonly Edit[]) =>
  Buffer.from(applyEdits(Buffer.from(body), edits)).toString();

describe('edits of a body (contract: body/checked-is-sent)', () => {
  it('no edits give the same body, without a copy', () => {
    const body = Buffer.from('{}');
    expect(applyEdits(body, [])).toBe(body);
  });

  it('edits replace and insert in any order', () => {
    const edits = [
      { start: 8, end: 9, text: ',' },
      { start: 1, end: 4, text: 'é' },
      { start: 9, end: 9, text: '!' },
    ];
    expect(textAfter('012345678', edits)).toBe('0é4567,!');
  });

  it('two insertions at one place keep their order', () => {
    const object = { end: 7, empty: false };
    const edits = [insertMember(object, 'b', '2'), insertMember(object, 'c"', '3')];
    expect(JSON.parse(textAfter('{"a":1}', edits))).toEqual({ a: 1, b: 2, 'c"': 3 });
    expect(textAfter('{}', [insertMember({ end: 2, empty: true }, 'b', '2')])).toBe('{"b":2}');
  });

  it('edits do not change the memory of the body, also inside a larger buffer', () => {
    const memory = Buffer.from('__abcdef__');
    const body = new Uint8Array(memory.buffer, memory.byteOffset + 2, 6);
    expect(Buffer.from(applyEdits(body, [{ start: 2, end: 3, text: 'é' }])).toString()).toBe('abédef');
    expect(memory.toString()).toBe('__abcdef__');
  });

  it('edits may neither overlap nor reach outside the body', () => {
    const body = Buffer.from('abcdef');
    const overlapping = [
      { start: 0, end: 3, text: '' },
      { start: 2, end: 4, text: '' },
    ];
    expect(() => applyEdits(body, overlapping)).toThrow(RangeError);
    expect(() => applyEdits(body, [{ start: 5, end: 7, text: '' }])).toThrow(RangeError);
  });

  it('edits give the same result as splicing the text from the end', () => {
    const edits = fc
      .uniqueArray(fc.nat(60), { maxLength: 10 })
      .map((bounds) => bounds.sort((a, b) => a - b))
      .chain((bounds) => {
        const ranges = Array.from({ length: bounds.length >> 1 }, (_, i) => bounds.slice(2 * i, 2 * i + 2));
        return fc.tuple(
          ...ranges.map(([start = 0, end = 0]) => fc.string().map((text) => ({ start, end, text }))),
        );
      });
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', minLength: 61, maxLength: 80 }), edits, (body, list) => {
        let expected = body;
        for (const { start, end, text } of [...list].reverse()) {
          expected = expected.slice(0, start) + text + expected.slice(end);
        }
        expect(textAfter(body, [...list].reverse())).toBe(expected);
      }),
    );
  });
});
