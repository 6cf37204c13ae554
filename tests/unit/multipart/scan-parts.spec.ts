import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Scan } from '#lib/core/families/scan';
import { bytesOf, formOf, inPieces, type MadePart, readForm } from '#tests/unit/multipart/make';

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x2d, 0x2d, 0x62]);
const usual: readonly MadePart[] = [
  { name: 'image[]', filename: 'a.png', value: png, headers: ['Content-Type: image/png'] },
  { name: 'prompt', value: 'a fox, é 🦊' },
  { name: 'n', value: '2' },
  {
    name: 'image[]',
    filename: 'a.png',
    value: Buffer.alloc(70_000, 7),
    headers: ['Content-Type: image/png'],
  },
  { name: 'stream', value: 'true' },
  { name: 'model', value: 'gpt-image-1' },
  { name: 'empty', value: '' },
  { name: 'svg[model]', value: 'gpt-5' },
];

async function scanned(
  chunks: readonly Buffer[],
  options: Parameters<typeof readForm>[1] = {},
): Promise<Scan> {
  const read = await readForm(chunks, options);
  if (typeof read === 'string') throw new Error(read);
  return read;
}

describe('a multipart body (contract: body/multipart)', () => {
  it('the values of text parts are found with their places', async () => {
    const body = formOf('b', usual);
    const scan = await scanned([body]);
    const values = [...scan.found].map(([path, { value, start, end }]) => [
      path,
      value,
      body.toString('utf8', start, end),
    ]);
    expect(values).toEqual([
      ['n', 2, '2'],
      ['stream', true, 'true'],
      ['model', 'gpt-image-1', 'gpt-image-1'],
      ['svg.model', 'gpt-5', 'gpt-5'],
    ]);
    expect(scan.upload?.files).toMatchObject([
      { field: 'image[]', mediaType: 'image/png', bytes: png.length },
      { field: 'image[]', mediaType: 'image/png', bytes: 70_000 },
    ]);
    const starts = (scan.upload?.files ?? []).map(({ start }) => start);
    expect(body.subarray(starts[0], (starts[0] ?? 0) + png.length).equals(png)).toBe(true);
    expect(await bytesOf(scan)).toEqual(body);
  });

  it('a part of bytes without a file name is a file, as Anthropic’s SDK for Python sends it', async () => {
    const headers = ['Content-Type: application/octet-stream'];
    const body = formOf('b', [
      { name: 'image[]', value: png, headers },
      { name: 'model', value: 'gpt-image-1' },
    ]);
    const { upload, found } = await scanned([body]);
    expect(upload?.files).toMatchObject([{ field: 'image[]', bytes: png.length }]);
    expect(found.get('model')?.value).toBe('gpt-image-1');
    expect(await readForm([formOf('b', [{ name: 'model', value: 'gpt-5', headers }])])).toContain(
      'is a file',
    );
  });

  it('a multipart body is read the same in pieces of any size', async () => {
    const body = formOf('----x-boundary', usual.slice(0, 3).concat(usual.slice(4)));
    const options = { boundary: '----x-boundary' };
    const whole = await scanned([body], options);
    for (let size = 1; size < 120; size++) {
      const pieces = await scanned(inPieces(body, size), options);
      expect([...pieces.found]).toEqual([...whole.found]);
      expect(pieces.upload?.files).toEqual(whole.upload?.files);
    }
  });

  it('a multipart body is read the same however it is cut, whatever its files contain', async () => {
    const nasty = fc.array(
      fc.constantFrom('\r', '\n', '\r\n', '-', '--', '--b', '--bb', 'x--b', '\r\n-', '\r\n--', 'b', 'text'),
      { maxLength: 12 },
    );
    const cuts = fc.array(fc.nat(400), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(nasty, nasty, cuts, async (one, two, at) => {
        const body = formOf('b', [
          { name: 'image', filename: 'x', value: one.join('') },
          { name: 'prompt', value: two.join('') },
          { name: 'model', value: 'm' },
        ]);
        const edges = [0, ...at.map((n) => n % body.length).sort((a, b) => a - b), body.length];
        const chunks = edges.slice(1).map((end, index) => body.subarray(edges[index], end));
        const [whole, cut] = [await readForm([body]), await readForm(chunks)];
        if (typeof whole === 'string' || typeof cut === 'string') {
          expect(cut).toBe(whole);
          return;
        }
        expect([...cut.found]).toEqual([...whole.found]);
        expect(cut.upload?.files).toEqual(whole.upload?.files);
        expect(whole.upload?.files).toMatchObject([{ mediaType: null, bytes: one.join('').length }]);
      }),
      { numRuns: 400 },
    );
  });

  it.each<[string, MadePart, string | number | boolean]>([
    ['a number', { name: 'n', value: '2' }, 2],
    ['a number in powers of ten', { name: 'n', value: '1e1' }, 10],
    ['a number with a sign in front', { name: 'n', value: '+2' }, '+2'],
    ['a number in words', { name: 'n', value: 'two' }, 'two'],
    ['nothing for a number', { name: 'n', value: '' }, ''],
    ['false', { name: 'stream', value: 'false' }, false],
    ['a capital True', { name: 'stream', value: 'True' }, 'True'],
    ['a text that looks like a number', { name: 'quality', value: '1' }, '1'],
    ['a JSON content type', { name: 'n', value: '3', headers: ['Content-Type: application/json'] }, 3],
    ['64 KiB', { name: 'quality', value: 'q'.repeat(65_536) }, 'q'.repeat(65_536)],
  ])('reads %s by value where the field is one', async (_name, part, value) => {
    const scan = await scanned([formOf('b', [part])]);
    expect(scan.found.get(part.name)?.value).toBe(value);
  });

  it('parts that the gateway does not read are accepted: long texts, other charsets, lists, any names', async () => {
    const scan = await scanned([
      formOf('b', [
        { name: 'prompt', value: 'x'.repeat(70_000) },
        {
          name: 'latin',
          value: Buffer.from([0xe9]),
          headers: ['Content-Type: text/plain; charset=iso-8859-1'],
        },
        { name: 'broken', value: Buffer.from([0xc3, 0x28]) },
        { name: 'metadata[model]', value: 'x' },
        { name: 'images[]', value: 'x' },
        { name: 'größe', value: 'x' },
        { name: 'file', filename: 'naïve;a.png', value: 'x' },
        { name: 'file', filename: '', value: '' },
      ]),
    ]);
    expect(scan.found.size).toBe(0);
  });
});
