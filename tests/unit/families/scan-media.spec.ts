import { describe, expect, it } from 'vitest';
import { type LongString, scan } from '#lib/core/families/scan';

function longStrings(value: unknown): readonly LongString[] {
  const result = scan(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), {});
  if ('fault' in result) throw new Error(result.fault);
  return result.longStrings;
}

const data = 'QUJD'.repeat(300);

describe('long strings (contract: money/media-weight)', () => {
  it('are those of over 1 KiB', () => {
    expect(longStrings({ a: 'x'.repeat(1024), b: 'x'.repeat(1025) }).map(({ key }) => key)).toEqual(['b']);
  });

  it('have the media type of their data URL', () => {
    const [image] = longStrings({ image_url: { url: `data:image/PNG;base64,${data}` } });
    expect(image).toMatchObject({ key: 'url', mediaType: 'image/png', base64: true });
    const [escaped] = longStrings(`{"url":"data:image\\/png;base64,${data}\\/9="}`);
    expect(escaped).toMatchObject({ mediaType: 'image/png', base64: true });
  });

  it.each(['media_type', 'mime_type', 'mimeType', 'format'])(
    'have the media type that a sibling "%s" names, before or after them',
    (name) => {
      expect(longStrings({ [name]: 'Audio/wav', data })[0]?.mediaType).toBe('audio/wav');
      expect(longStrings({ data, [name]: 'wav' })[0]?.mediaType).toBe('wav');
      expect(longStrings({ [name]: 'wav', inner: { data }, list: [data] }).map((l) => l.mediaType)).toEqual([
        null,
        null,
      ]);
    },
  );

  it('are base64 only when all of them is', () => {
    expect(longStrings({ a: `${data}=` })[0]?.base64).toBe(true);
    expect(longStrings({ a: `${data}\n${data}\r\n` })[0]?.base64).toBe(true);
    expect(longStrings({ a: `${data}-_==` })[0]?.base64).toBe(true);
    for (const odd of [`${data} `, `${data}.`, `=${data}`, `${data}=a`, `${data}é`, `${data}"`]) {
      expect(longStrings({ a: odd })[0]?.base64).toBe(false);
    }
  });

  it('in an array have no key', () => {
    expect(longStrings({ a: [data] })[0]?.key).toBe('');
    expect(longStrings({ é: data })[0]?.key).toBe('é');
  });

  it('range over the text between their quotes', () => {
    const body = JSON.stringify({ a: 1, b: data });
    const [long] = longStrings(body);
    expect(body.slice(long?.start, long?.end)).toBe(data);
  });
});
