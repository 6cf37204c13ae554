import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUnreadable } from '#lib/core/translation/conversation';
import { findLosses } from '#lib/core/translation/fates';
import { translations } from '#lib/core/translation/index';
import { fullRequests } from '#tests/unit/translation/full/requests';

const protocols = ['chat', 'responses', 'messages', 'generate-content'] as const;

/** The body with the value at one of its places replaced; `draw` chooses among the places. */
function replaced(value: unknown, draw: number, by: unknown): unknown {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const at = draw % (entries.length + 1);
  const chosen = entries[at];
  if (!chosen) return by;
  const changed = replaced(chosen[1], Math.floor(draw / (entries.length + 1)), by);
  if (Array.isArray(value)) return value.map((one, index) => (String(index) === chosen[0] ? changed : one));
  return Object.fromEntries(entries.map(([name, one]) => [name, name === chosen[0] ? changed : one]));
}

const wrongValues = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(
    '',
    'text',
    'thinking',
    'tool_use',
    'tool_result',
    'image',
    'user',
    'model',
    'tool',
    'function_call',
    'reasoning',
    'data:,',
    -1,
    0,
    1e300,
  ),
);

describe.each(protocols)('a request of %s', (protocol) => {
  const { read, fields } = translations[protocol];
  const body = fullRequests[protocol];
  it('is read as it is', () => {
    expect(read(body)).toHaveProperty('conversation');
    expect(findLosses(body, fields, 'chat').refused).toBeNull();
  });

  it('is read, or refused with the field and what to send, whatever value is wrong', () => {
    fc.assert(
      fc.property(fc.nat(), wrongValues, (draw, value) => {
        const wrong = Object.fromEntries(Object.entries(replaced(body, draw, value) ?? {}));
        const request = read(wrong);
        if (isUnreadable(request)) {
          expect(request.field).not.toBe('');
          expect(request.message).toContain(request.field);
        } else {
          expect(request.conversation.prompt.every(({ content }) => content.length > 0)).toBe(true);
        }
        findLosses(wrong, fields, 'responses');
      }),
      { numRuns: 2_000 },
    );
  });

  it('is refused if it is nested too deeply to be read', () => {
    let deep: unknown = 'x';
    for (let level = 0; level < 200_000; level++) deep = [deep];
    for (const draw of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
      expect(() => read(Object.fromEntries(Object.entries(replaced(body, draw, deep) ?? {})))).not.toThrow();
    }
  });
});
