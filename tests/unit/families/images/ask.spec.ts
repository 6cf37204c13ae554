import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { images } from '#lib/core/families/images';
import { editFields } from '#lib/core/families/images/fields';
import { editedBody } from '#lib/gateway/flow/upload/edited-body';
import { askImages, askUpload, readImages } from '#tests/unit/families/images/make';
import { makeOffer } from '#tests/unit/families/make';
import { formOf, readForm } from '#tests/unit/multipart/make';

const inline = (letters: number) => ({ image_url: `data:image/png;base64,${'A'.repeat(letters)}` });

async function upload(parts: Parameters<typeof formOf>[1]) {
  const read = await readForm([formOf('b', parts)], { fields: editFields });
  if (typeof read === 'string') throw new Error(read);
  return read;
}

async function textOf(body: ReturnType<typeof editedBody>) {
  const pieces: Buffer[] = [];
  if (body.body instanceof Uint8Array) pieces.push(Buffer.from(body.body));
  else for await (const piece of body.body ?? []) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

describe('a request for images', () => {
  it('a request for images names its model, how many, and whether it streams; it has no budget', () => {
    expect(askImages({ model: 'v/m', prompt: 'x', n: 3, stream: true })).toMatchObject({
      model: 'v/m',
      choices: 3,
      stream: true,
      budget: null,
      serviceTier: null,
    });
    expect(askImages({ model: 'v/m', n: null, stream: null, size: null })).toMatchObject({
      choices: 1,
      stream: false,
    });
  });

  it.each([
    { prompt: 'x' },
    { model: 5 },
    { model: 'm', n: 0 },
    { model: 'm', n: '2' },
    { model: 'm', stream: 'true' },
    { model: 'm', size: 1024 },
    { model: 'm', quality: ['high'] },
    { model: 'm', partial_images: -1 },
    { model: 'm', partial_images: 1.5 },
    { model: 'm', frame_count: 'nine' },
    { model: 'm', svg: { model: 7 } },
  ])('is refused when a field is none: %j', (body) => {
    const refused = readImages(body);
    expect(isRefusal(refused) && refused.code).toBe('invalid_body');
  });

  it('names the model of its vector graphics, which is checked as its own', () => {
    const { nested } = askImages({ model: 'm', svg: { model: 'v/writer' } });
    expect(nested).toMatchObject([{ slug: 'v/writer' }]);
    expect(askImages({ model: 'm', svg: { reasoning: {} } }).nested).toBeUndefined();
  });

  it('input pictures weigh as pictures, inline, by address and by id', () => {
    const body = {
      model: 'm',
      prompt: 'x'.repeat(100),
      images: [inline(5_000), { file_id: 'f' }, inline(50)],
    };
    const { weight } = askImages(body, 'images.edit');
    expect(weight).toMatchObject({ images: 3, audioVideoBytes: 0, fileBytes: 0 });
    expect(weight.textBytes).toBe(JSON.stringify(body).length - 5_000 - 'data:image/png;base64,'.length);
  });
});

describe('an edit in parts', () => {
  const parts = [
    { name: 'image[]', filename: 'a', value: Buffer.alloc(90_000, 1) },
    { name: 'image[]', filename: 'b', value: 'x', headers: ['Content-Type: audio/wav'] },
    { name: 'mask', filename: 'c', value: 'x' },
    { name: 'n', value: '2' },
    { name: 'stream', value: 'true' },
    { name: 'model', value: 'v/m' },
    { name: 'prompt', value: 'green' },
    { name: 'partial_images', value: '3' },
  ];

  it('an edit in parts asks for the same as one in JSON', async () => {
    const ask = askUpload(await upload(parts));
    expect(ask).toMatchObject({ model: 'v/m', choices: 2, stream: true });
    expect(ask.scan.found.get('partial_images')?.value).toBe(3);
    expect(ask.weight).toEqual({
      textBytes: '2truev/mgreen3'.length,
      images: 3,
      audioVideoBytes: 0,
      fileBytes: 0,
      searchTools: 0,
    });
  });

  it.each([
    ['n', 'two'],
    ['n', ''],
    ['n', ' 2'],
    ['stream', 'True'],
    ['stream', '1'],
    ['partial_images', '-1'],
  ])('is refused when %s is %j', async (name, value) => {
    const scanned = await upload([
      { name: 'model', value: 'm' },
      { name, value },
    ]);
    expect(() => askUpload(scanned)).toThrow(`Field "${name}"`);
  });

  it.each(['p', 'a-much-longer-name/of-the-provider', 'grüße'])(
    'goes up as %s, bare, with nothing else changed and its exact length',
    async (upstreamModel) => {
      const scanned = await upload(parts);
      const edits = images.edits(askUpload(scanned), makeOffer({ upstreamModel }), null);
      const renamed = formOf(
        'b',
        parts.map((part) => (part.name === 'model' ? { ...part, value: upstreamModel } : part)),
      );
      for (const _attempt of [1, 2]) {
        const body = editedBody(scanned, edits);
        expect(body.contentLength).toBe(renamed.length);
        expect(await textOf(body)).toBe(renamed.toString());
      }
    },
  );

  it('an edit in parts is forwarded unchanged if the provider uses the same name', async () => {
    const scanned = await upload(parts);
    const edits = images.edits(askUpload(scanned), makeOffer({ upstreamModel: 'v/m' }), null);
    expect(edits).toEqual([]);
    expect(await textOf(editedBody(scanned, edits))).toBe(formOf('b', parts).toString());
  });

  it('an upload is never sent if its edits do not fit it', async () => {
    const scanned = await upload(parts);
    const edit = { start: 5, end: 9, text: '' };
    expect(() => editedBody(scanned, [edit, { ...edit, start: 8 }])).toThrow(RangeError);
    expect(() => editedBody(scanned, [{ ...edit, end: 1e9 }])).toThrow(RangeError);
  });
});
