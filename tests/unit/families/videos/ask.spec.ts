import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { applyEdits } from '#lib/core/families/edits';
import { PartFinder } from '#lib/core/families/multipart/finder';
import { PartScan } from '#lib/core/families/multipart/scan-parts';
import type { ScanFault } from '#lib/core/families/scan';
import { videos } from '#lib/core/families/videos';
import { makeOffer } from '#tests/unit/families/make';
import { askVideo, readVideo, videoOperation } from '#tests/unit/families/videos/make';
import { formOf, type MadePart } from '#tests/unit/multipart/make';

const offer = makeOffer({ upstreamModel: 'film-2' });
const whole = { model: 'vendor/name', prompt: 'A calm sea', seconds: '8', size: '1280x720' };

/** The scan of a form as the pipeline makes it. */
function scanForm(parts: readonly MadePart[]) {
  const body = formOf('b', parts);
  const scan = new PartScan(videoOperation('create').fields ?? {});
  const faults: ScanFault[] = [];
  const finder = new PartFinder('b', (part) => {
    const fault = scan.take(part);
    if (fault) faults.push(fault);
  });
  finder.push(body);
  return { body, scanned: faults[0] ?? scan.end(body.length, async function* () {}) };
}

describe('what a video is asked for', () => {
  it('is a job by its seconds and size, and generates no text', () => {
    expect(askVideo(whole)).toMatchObject({
      model: 'vendor/name',
      stream: false,
      budget: null,
      choices: 1,
      job: { seconds: 8, size: '1280x720' },
    });
    expect(askVideo({ model: 'm', seconds: null, size: null }).job).toEqual({});
  });

  it.each([
    ['"4"', 4],
    ['12', 12],
    ['"7.5"', 8],
    ['1.2e1', 12],
  ])('reads seconds %s as %i', (seconds, expected) => {
    expect(askVideo(`{"model":"m","seconds":${seconds}}`).job).toEqual({ seconds: expected });
  });

  it.each([
    ['{"prompt":"x"}', '"model" is missing'],
    ['{"model":3}', '"model" (byte 9) must be a string'],
    ['{"model":"m","seconds":"eight"}', '"seconds" (byte 23) must be a number of seconds above 0'],
    ['{"model":"m","seconds":"8s"}', 'number of seconds'],
    ['{"model":"m","seconds":" 8"}', 'number of seconds'],
    ['{"model":"m","seconds":0}', 'above 0'],
    ['{"model":"m","seconds":-4}', 'above 0'],
    ['{"model":"m","seconds":1e300}', 'number of seconds'],
    ['{"model":"m","seconds":9007199254740991}', 'number of seconds'],
    ['{"model":"m","seconds":"1000001"}', 'number of seconds'],
    ['{"model":"m","seconds":true}', 'number of seconds'],
    ['{"model":"m","size":720}', '"size" (byte 20) must be a string'],
    ['{"model":"m","seconds":4,"seconds":12}', 'occurs twice'],
    ['{"model":"m","Seconds":4}', 'differs from field "seconds" only in case'],
    ['{"model":"m","input_reference":{"file_id":1}}', '"input_reference.file_id"'],
  ])('refuses %s', (body, message) => {
    const refused = readVideo(body);
    expect(isRefusal(refused) && refused.code).toBe('invalid_body');
    expect(isRefusal(refused) && refused.message).toContain(message);
  });

  it('weighs a picture as a picture and its prompt as text', () => {
    const image = `data:image/png;base64,${'A'.repeat(9_000)}`;
    const { weight } = askVideo({ ...whole, input_reference: { image_url: image } });
    expect(weight).toMatchObject({ images: 1, audioVideoBytes: 0, fileBytes: 0 });
    expect(weight.textBytes).toBeLessThan(200);
  });

  it('names a file of the provider only as one of the workspace: there is none', () => {
    const { references } = askVideo({ ...whole, input_reference: { file_id: 'file-1' } });
    expect(references).toEqual([{ kind: 'file', id: 'file-1', required: true }]);
    expect(askVideo(whole).references).toBeUndefined();
  });

  it('of a remix takes the model from its source, whatever the body says', () => {
    const ask = askVideo({ prompt: 'Again', model: 'other/model' }, 'remix', { id: 'video_1', model: 'a/b' });
    expect(ask).toMatchObject({ model: 'a/b', job: {}, budget: null });
    const sent = Buffer.from(applyEdits(ask.scan.body, videos.edits(ask, offer, 100))).toString();
    expect(JSON.parse(sent)).toEqual({ prompt: 'Again', model: offer.upstreamModel });
    expect(readVideo('{"model":"a/b","model":"other/model"}', 'remix', ask.params)).toHaveProperty('code');
    expect(readVideo({ model: 1 }, 'remix', ask.params)).toHaveProperty('code');
    const known = { id: 'video_1', model: 'a/b', seconds: '8', size: '1280x720' };
    expect(askVideo({ prompt: 'Again' }, 'remix', known).job).toEqual({ seconds: 8, size: '1280x720' });
    expect(askVideo({ prompt: 'Again', seconds: 12 }, 'remix', known).job).toMatchObject({ seconds: 12 });
    expect(videos.upstreamPath(ask, offer)).toBe('/videos/video_1/remix');
  });
});

describe('a form', () => {
  const parts: readonly MadePart[] = [
    { name: 'prompt', value: 'A calm sea' },
    {
      name: 'input_reference',
      value: Buffer.alloc(5_000, 0x89),
      filename: 'a.png',
      headers: ['Content-Type: image/png'],
    },
    { name: 'model', value: 'vendor/name' },
    { name: 'seconds', value: '12' },
    { name: 'size', value: '1024x1792' },
  ];

  it('asks for the same as a JSON body, with its picture as a file', () => {
    const { body, scanned } = scanForm(parts);
    if ('fault' in scanned) throw new Error(scanned.fault);
    const ask = videos.readAsk({ operation: videoOperation('create'), params: {}, scan: scanned });
    if (isRefusal(ask)) throw new Error(ask.message);
    expect(ask).toMatchObject({ model: 'vendor/name', job: { seconds: 12, size: '1024x1792' } });
    expect(ask.weight).toMatchObject({ images: 1, textBytes: 32 });
    const sent = Buffer.from(applyEdits(body, videos.edits(ask, offer, null))).toString('latin1');
    expect(sent).toBe(body.toString('latin1').replace('vendor/name', 'film-2'));
  });

  it('may name a picture by its members, but not as a text that only the provider would read', () => {
    const named = scanForm([
      ...parts.slice(2),
      { name: 'input_reference[file_id]', value: 'file-1' },
    ]).scanned;
    if ('fault' in named) throw new Error(named.fault);
    const ask = videos.readAsk({ operation: videoOperation('create'), params: {}, scan: named });
    expect(!isRefusal(ask) && ask.references).toEqual([{ kind: 'file', id: 'file-1', required: true }]);
    const text = scanForm([...parts.slice(2), { name: 'input_reference', value: '{"file_id":"file-1"}' }]);
    expect(text.scanned).toMatchObject({
      fault: expect.stringContaining('"input_reference") is not a file'),
    });
  });
});

describe('what goes up', () => {
  it('is the body with the model in the provider’s words', () => {
    const ask = askVideo('{"seconds":"8", "model":"vendor/name","x":1.0}');
    const sent = Buffer.from(applyEdits(ask.scan.body, videos.edits(ask, offer, null))).toString();
    expect(sent).toBe('{"seconds":"8", "model":"film-2","x":1.0}');
    expect(videos.edits(askVideo({ model: 'film-2' }), offer, 50)).toEqual([]);
  });

  it.each([
    ['create', '/videos'],
    ['retrieve', '/videos/video%201'],
    ['delete', '/videos/video%201'],
    ['content', '/videos/video%201/content'],
    ['remix', '/videos/video%201/remix'],
  ])('%s goes to %s', (name, path) => {
    const ask = { ...askVideo(whole), operation: videoOperation(name), params: { id: 'video 1' } };
    expect(videos.upstreamPath(ask, offer)).toBe(path);
  });
});
