import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chat } from '#lib/core/families/chat';
import { responses } from '#lib/core/families/responses';
import { type FieldSpec, type Scan, type ScanFault, scan, scanInSlices } from '#lib/core/families/scan';
import { quickScanner } from '#lib/core/families/scan/quick';
import { build } from '#tools/scanner/build';

const specs: readonly FieldSpec[] = [
  chat.operations[0]?.fields ?? {},
  responses.operations.find(({ name }) => name === 'responses.create')?.fields ?? {},
  {
    model: {},
    options: { fields: { usage: {} } },
    tools: { each: { type: {} } },
    input: { elements: (found) => found.filter(({ value }) => value !== 'no'), each: { id: {} } },
  },
  {},
];

function told(result: Scan | ScanFault): unknown {
  if ('fault' in result) return result;
  const { root, found, nulls, collected, longStrings } = result;
  return { root, found: [...found], nulls: [...nulls], collected, longStrings };
}

const names = ['model', 'messages', 'input', 'tools', 'type', 'id', 'audio', 'options', 'usage', 'content'];
const oddNames = ['format', 'mimeType', 'mime_type', 'media_type', 'MODEL', '\\u006dodel', 'ſtream', '', 'é'];
const inside = [
  'plain ',
  '\\n',
  '\\"',
  '\\\\',
  '\\u00e9',
  '\\ud83d',
  'é',
  '漢字',
  '😀',
  '\\/',
  'QUJD',
  '{',
  ']',
];
const shortText = fc.array(fc.constantFrom(...inside), { maxLength: 12 }).map((parts) => parts.join(''));
const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('user', 'no', 'image/png', '') },
  { weight: 6, arbitrary: shortText },
  // Around the length at which a string may be media, with an escape or a character across that place.
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.integer({ min: 1_005, max: 1_030 }), shortText)
      .map(([length, end]) => `${'x'.repeat(length)}${end}`),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('', 'data:image/png;base64,'), fc.integer({ min: 200, max: 400 }), shortText)
      .map(([start, times, end]) => `${start}${'QU/D+w'.repeat(times)}${end}`),
  },
);
const space = fc.constantFrom('', '', '', ' ', '\n  ', '\t\r\n');
const scalar = fc.oneof(
  text.map((inner) => `"${inner}"`),
  fc.constantFrom('0', '-1', '12345', '1.5e-7', '-0.0', '1E+10', 'true', 'false', 'null'),
);
const json = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { weight: 4, arbitrary: scalar },
    {
      weight: 2,
      arbitrary: fc
        .array(fc.tuple(fc.constantFrom(...names, ...oddNames), tie('value'), space), { maxLength: 5 })
        .map((members) => `{${members.map(([key, value, gap]) => `${gap}"${key}"${gap}:${gap}${value}`)}}`),
    },
    {
      weight: 2,
      arbitrary: fc
        .array(fc.tuple(tie('value'), space), { maxLength: 6 })
        .map((elements) => `[${elements.map(([value, gap]) => `${gap}${value}${gap}`)}]`),
    },
  ),
})).value;
const member = fc.tuple(fc.constantFrom(...names, ...oddNames), json);
/** Long enough to be worth copying. */
const filling = fc.constantFrom(
  `"pad":"${'p'.repeat(600)}"`,
  `"pad":[${'1,'.repeat(300)}1]`,
  `"pad":[${'{},'.repeat(200)}[]]`,
);
const body = fc
  .tuple(fc.uniqueArray(member, { maxLength: 6, selector: ([name]) => name }), filling, fc.boolean())
  .map(([members, pad, isFirst]) => {
    const rest = members.map(([name, value]) => `"${name}":${value}`);
    return `{${(isFirst ? [pad, ...rest] : [...rest, pad]).join(',')}}`;
  });
const change = fc.record({
  at: fc.nat(),
  take: fc.nat(3),
  put: fc.constantFrom(
    '"',
    '\\',
    ',',
    '}',
    ']',
    '{',
    '[',
    ':',
    '0',
    '-',
    '.',
    'e',
    'tru',
    '\\u12',
    '\0',
    '\n',
  ),
});

describe('what the quick scanner passes over is what the parser would (contract: body/one-pass)', () => {
  it('runs here', () => expect(quickScanner).not.toBeNull());

  it('on sound bodies, whole and in slices', async () => {
    const run = fc.asyncProperty(
      body,
      fc.constantFrom(...specs),
      fc.integer({ min: 520, max: 2_000 }),
      async (whole, spec, sliceBytes) => {
        const bytes = Buffer.from(whole);
        const alone = told(scan(bytes, spec, null));
        expect(told(scan(bytes, spec))).toEqual(alone);
        expect(told(await scanInSlices(bytes, spec, async () => {}, sliceBytes))).toEqual(alone);
      },
    );
    await fc.assert(run, { numRuns: 1_500 });
  });

  it('on damaged bodies, which are refused with the same words', () => {
    fc.assert(
      fc.property(
        body,
        fc.constantFrom(...specs),
        fc.array(change, { minLength: 1, maxLength: 2 }),
        (whole, spec, changes) => {
          let bytes = Buffer.from(whole);
          for (const { at, take, put } of changes) {
            const cut = at % (bytes.length + 1);
            bytes = Buffer.concat([bytes.subarray(0, cut), Buffer.from(put), bytes.subarray(cut + take)]);
          }
          expect(told(scan(bytes, spec))).toEqual(told(scan(bytes, spec, null)));
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it('on every byte behind a backslash and inside a string, at every place of a block of 16', () => {
    for (let byte = 0; byte < 256; byte++) {
      for (let at = 0; at < 17; at++) {
        const bytes = Buffer.from(`{"pad":"${'p'.repeat(600)}","a":["${'y'.repeat(at)}\\nz0000"]}`);
        const backslash = bytes.indexOf('\\');
        for (const place of [backslash, backslash + 1, backslash + 2]) {
          const changed = Buffer.from(bytes);
          changed[place] = byte;
          expect(told(scan(changed, {}))).toEqual(told(scan(changed, {}, null)));
        }
      }
    }
  });

  it.each([511, 512, 513])('at %i levels', (levels) => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
      ['[{"tools":', '}]'],
    ] as const) {
      const each = open.startsWith('[{') ? 2 : 1;
      const times = Math.floor((levels - 1) / each);
      const long = `"${'long text '.repeat(120)}"`;
      const bytes = Buffer.from(`{"x":${open.repeat(times)}${long}${close.repeat(times)},"y":[[1]]}`);
      expect(told(scan(bytes, specs[0] ?? {}))).toEqual(told(scan(bytes, specs[0] ?? {}, null)));
    }
  });

  it('on tokens that lie across the parts in which a long body is copied', () => {
    const part = 256 * 1024;
    const tokens = [
      '"\\u00e9\\n"',
      '-12.5e+7',
      'false',
      '{"type":"a"}',
      '[[],{}]',
      `"${'QUJD'.repeat(400)}"`,
    ];
    for (const token of tokens) {
      for (let before = 1; before < 14; before++) {
        const pad = 'p'.repeat(part - before - 20);
        const bytes = Buffer.from(`{"pad":"${pad}","tools":[${token},${token}, {"type":"web_search"}]}`);
        expect(told(scan(bytes, specs[0] ?? {}))).toEqual(told(scan(bytes, specs[0] ?? {}, null)));
      }
    }
  });
});

it('the code of the quick scanner is what its source builds', async () => {
  const kept = await readFile('lib/core/families/scan/quick-code.ts', 'utf8');
  expect(await build()).toBe(kept);
}, 60_000);
