import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { fileIdIn } from '#lib/core/families/generate-content/references';
import { askContent, type ContentVerb, readContent } from '#tests/unit/families/content/make';

const store = 'https://generativelanguage.googleapis.com';
const fileUri = `${store}/v1beta/files/abc123`;
const idsOf = (body: object, verb: ContentVerb = 'generate') =>
  askContent(body, verb).references?.map(({ id }) => id) ?? [];

describe('an address of the provider’s own files', () => {
  it.each([
    'files/abc123',
    '/files/abc123',
    ' files/abc123 ',
    'v1beta/files/abc123',
    fileUri,
    `${fileUri}:download?alt=media`,
    `${store}:443/v1/files/abc123#x`,
    `${store}./download/v1beta/files/abc123:download?alt=media`,
    'http://GenerativeLanguage.GoogleApis.com/v1beta/files/abc123',
    'https://us-generativelanguage.googleapis.com/v1beta/files/abc123',
    'https://generativelanguage.mtls.googleapis.com/v1beta/files/abc123',
    `${store}/v1beta/%66iles%2Fabc123`,
    '%66iles/abc123',
  ])('is %s', (text) => expect(fileIdIn(text)).toBe('abc123'));

  it.each([
    'gs://bucket/files/abc123',
    'https://example.com/v1beta/files/abc123',
    'https://storage.googleapis.com/files/abc123',
    'https://www.youtube.com/watch?v=abc123',
    `https://example.com/?u=${fileUri}`,
    `${store}/v1beta/models/x`,
    'my-files/abc123',
    'https://%zz',
    '',
  ])('is not %s', (text) => expect(fileIdIn(text)).toBeNull());
});

describe('what the provider keeps may only be named by who made it (contract: jobs/references)', () => {
  it.each([
    ['camel', { contents: [{ parts: [{ text: 'a' }, { fileData: { fileUri, mimeType: 'video/mp4' } }] }] }],
    ['snake', { contents: [{ parts: [{ file_data: { file_uri: fileUri } }] }] }],
    ['without arrays', { contents: { parts: { fileData: { fileUri } } } }],
    ['in an instruction', { system_instruction: { parts: [{ fileData: { fileUri } }] } }],
    [
      'in a tool’s answer',
      { contents: [{ parts: [{ functionResponse: { parts: [{ fileData: { fileUri } }] } }] }] },
    ],
  ])('a file %s', (_name, body) => {
    expect(askContent(body).references).toEqual([{ kind: 'file', id: 'abc123', required: true }]);
    expect(idsOf(body, 'stream')).toEqual(['abc123']);
    expect(idsOf(body, 'count')).toEqual(['abc123']);
    expect(idsOf({ generateContentRequest: body }, 'count')).toEqual(['abc123']);
  });

  it('every file of the provider’s store is a reference, each once', () => {
    const parts = ['files/a', 'files/b', 'files/a', 'gs://x/y'].map((uri) => ({
      fileData: { fileUri: uri },
    }));
    expect(idsOf({ contents: [{ parts }, { parts }] })).toEqual(['a', 'b']);
  });

  it.each([
    'my-files/abc123',
    'FILES/abc123',
    '//v1beta/files/abc123',
    '//generativelanguage.googleapis.com/v1beta/files/abc123',
    `${store}//v1beta//files/abc123`,
    `${store}/v9/media/abc123`,
  ])('a name at the store that cannot be read as a file’s: %s', (uri) => {
    const ask = askContent({ contents: [{ parts: [{ fileData: { fileUri: uri } }] }] });
    expect(ask.references).toEqual([{ kind: 'file', id: uri, required: true }]);
  });

  it.each(['', 'gs://bucket/abc123', 'https://www.youtube.com/watch?v=abc123'])(
    'nothing of the provider’s: %s',
    (uri) => expect(idsOf({ contents: [{ parts: [{ fileData: { fileUri: uri } }] }] })).toEqual([]),
  );

  it('a context cache is a reference by its id', () => {
    const kept = { kind: 'cache', id: 'x', required: true };
    expect(askContent({ cachedContent: 'cachedContents/x' }).references).toEqual([kept]);
    expect(askContent({ cached_content: 'cachedContents/x' }, 'stream').references).toEqual([kept]);
    expect(idsOf({ generateContentRequest: { cachedContent: 'c' } }, 'count')).toEqual(['c']);
  });

  it.each([
    ['a video that goes on', { video: { uri: `${fileUri}:download?alt=media` } }],
    ['a first picture', { image: { uri: fileUri } }],
    ['a picture as file data', { image: { fileData: { fileUri } } }],
    ['a last picture', { last_frame: { fileUri } }],
    ['a picture that leads', { referenceImages: [{ image: { uri: fileUri } }] }],
  ])('of a prediction: %s', (_name, instance) => {
    const ask = { instances: [{ prompt: 'a', ...instance }] };
    expect(idsOf(ask, 'predictLongRunning')).toEqual(['abc123']);
    const elsewhere = JSON.stringify(ask).replaceAll(store, 'https://example.com');
    expect(idsOf(JSON.parse(elsewhere), 'predictLongRunning')).toEqual([]);
  });

  it('a prompt that only mentions files refers to none', () => {
    expect(askContent({ contents: [{ parts: [{ text: fileUri }] }] }).references).toBeUndefined();
  });

  it('too many files are refused', () => {
    const parts = Array.from({ length: 1_001 }, (_, index) => ({ fileData: { fileUri: `files/f${index}` } }));
    expect(isRefusal(readContent({ contents: [{ parts }] }))).toBe(true);
    expect(idsOf({ contents: [{ parts: parts.slice(1) }] })).toHaveLength(1_000);
  });

  it('an address that is not a string is refused', () => {
    const refused = readContent({ contents: [{ parts: [{ fileData: { fileUri: ['files/a'] } }] }] });
    expect(isRefusal(refused) && refused.message).toContain('"contents[].parts[].fileData.fileUri"');
  });
});
