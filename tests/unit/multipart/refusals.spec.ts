import { describe, expect, it } from 'vitest';
import { formOf, inPieces, type MadePart, readForm } from '#tests/unit/multipart/make';

const model: MadePart = { name: 'model', value: 'm' };
const good = formOf('b', [model]).toString('latin1');

const bad: readonly (readonly [string, string | Buffer])[] = [
  ['nothing', ''],
  ['another boundary', formOf('c', [model])],
  ['a preamble', `hello\r\n${good}`],
  ['no closing delimiter', good.replace('--b--\r\n', '')],
  ['a cut closing delimiter', good.slice(0, -3)],
  ['a cut head', good.slice(0, 20)],
  ['no parts', '--b--\r\n'],
  ['something behind its end', `${good}x`],
  ['another body behind its end', good + good],
  ['white space behind a delimiter', good.replace('--b\r\n', '--b \r\n')],
  ['a longer delimiter inside', good.replace('\r\n--b--', '\r\n--bx\r\n--b--')],
  ['a delimiter behind a bare line feed', good.replace('m\r\n--b--', 'm\n--b--\r\n--b--')],
  ['a delimiter at the start of a value', good.replace('\r\n\r\nm', '\r\n\r\n--b\r\n')],
  ['a part without headers', good.replace(/Content-.*"\r\n/, '')],
  ['a part without a name', good.replace('; name="model"', '')],
  ['a part with two names', good.replace('; name="model"', '; name="x"; name="model"')],
  ['a part with an extended name', good.replace('; name="model"', '; name="x"; name*=utf-8\'\'model')],
  ['a part with a name in pieces', good.replace('; name="model"', '; name="x"; name*0=mo; name*1=del')],
  [
    'a part with an extended name in pieces',
    good.replace('; name="model"', "; name=x; name*0*=utf-8''model"),
  ],
  ['a part with a file name in pieces', good.replace('; name="model"', '; name="model"; filename*0="a"')],
  ['model in angle brackets', good.replace('"model"', '<model>')],
  ['a part that sets the charset of others', formOf('b', [{ name: '_charset_', value: 'utf-7' }, model])],
  ['a part with two file names', good.replace('; name="model"', '; name="i"; filename="a"; filename="b"')],
  ['a part that is no form-data', good.replace('form-data', 'attachment')],
  ['a disposition twice', good.replace('\r\n\r\nm', '\r\nContent-Disposition: form-data; name="x"\r\n\r\nm')],
  ['a folded header', good.replace('; name', ';\r\n name')],
  ['a bare line feed in a header', good.replace('; name', ';\n name')],
  ['a header without a colon', good.replace('\r\n\r\nm', '\r\nnonsense\r\n\r\nm')],
  ['headers of over 8 KiB', good.replace('\r\n\r\nm', `\r\nX-Pad: ${'x'.repeat(9_000)}\r\n\r\nm`)],
  ['headers without an end', `--b\r\nX-Pad: ${'x'.repeat(90_000)}`],
  ['bad UTF-8 in a header', Buffer.from(good.replace('"model"', '"mod\xe9l"'), 'latin1')],
  ['1,001 parts', formOf('b', Array(1_001).fill({ name: 'x', value: '' }))],
  ['model twice', formOf('b', [model, model])],
  ['model in another case', formOf('b', [{ name: 'Model', value: 'm' }])],
  ['stream with a long s', formOf('b', [{ name: '\u017Ftream', value: 'true' }])],
  ['model percent-encoded', formOf('b', [{ name: 'mode%6C', value: 'm' }])],
  ['model with spaces around it', formOf('b', [{ name: ' model ', value: 'm' }])],
  ['model in full-width letters', formOf('b', [{ name: '\uFF4Dodel', value: 'm' }])],
  ['model as a list', formOf('b', [{ name: 'model[]', value: 'm' }])],
  ['model with a backslash', good.replace('"model"', '"mo\\del"')],
  ['model as a file', formOf('b', [{ ...model, filename: 'm.txt' }])],
  ['model in UTF-16', formOf('b', [{ ...model, headers: ['Content-Type: text/plain; charset=utf-16'] }])],
  ['model in base64', formOf('b', [{ ...model, headers: ['Content-Transfer-Encoding: base64'] }])],
  ['model as bytes', formOf('b', [{ ...model, headers: ['Content-Type: application/octet-stream'] }])],
  ['model that is not UTF-8', formOf('b', [{ name: 'model', value: Buffer.from([0xe9]) }])],
  ['model of over 64 KiB', formOf('b', [{ name: 'model', value: 'm'.repeat(65_537) }])],
  ['a nested model twice', formOf('b', Array(2).fill({ name: 'svg[model]', value: 'm' }))],
  ['a nested model with a dot', formOf('b', [{ name: 'svg.model', value: 'm' }])],
  ['an object as one text', formOf('b', [{ name: 'svg', value: '{"model":"m"}' }])],
];

describe('a multipart body is refused, in one sentence and with nothing left on disk,', () => {
  it.each(bad)('for %s', async (_name, body) => {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body, 'latin1');
    const [whole, byByte] = [await readForm([bytes]), await readForm(inPieces(bytes, 1))];
    expect(whole).toEqual(expect.stringMatching(/^[A-Z].*\.$/));
    expect(byByte).toEqual(expect.stringMatching(/^[A-Z].*\.$/));
  });

  it.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary=b; boundary=b',
    'multipart/form-data; boundary=b; Boundary=c',
    "multipart/form-data; boundary*=utf-8''b",
    'multipart/form-data; boundary="b',
    'multipart/form-data; boundary="b "',
    `multipart/form-data; boundary=${'b'.repeat(71)}`,
    'multipart/form-data; boundary="b\\b"',
    'multipart/form-data boundary=b',
    'multipart/mixed; boundary=b',
    'multipart/form-data; boundary=b; charset=utf-7',
    'multipart/form-data; boundary=b; charset=utf-8; charset=utf-16',
    "multipart/form-data; boundary=b; charset*=us-ascii''utf-7",
    'multipart/form-data; boundary=b, multipart/form-data; boundary=c',
  ])('for the Content-Type %s', async (contentType) => {
    expect(await readForm([Buffer.from(good, 'latin1')], { contentType })).toEqual(expect.any(String));
  });

  it.each(['multipart/form-data; boundary="b"', 'Multipart/Form-Data;charset=utf-8; BOUNDARY=b'])(
    'but not for the Content-Type %s',
    async (contentType) => {
      expect(await readForm([Buffer.from(good, 'latin1')], { contentType })).toHaveProperty('found');
    },
  );

  it.each([
    ['a line end before the first delimiter', `\r\n${good}`],
    ['no line end behind the last', good.trimEnd()],
    ['headers that nobody knows', good.replace('\r\n\r\nm', '\r\nX-Any: thing\r\n\r\nm')],
    ['a name without quotes', good.replace('"model"', 'model')],
    ['the boundary inside a line', good.replace('\r\n\r\nm', '\r\n\r\nm--b--')],
  ])('but not for %s', async (_name, body) => {
    const read = await readForm([Buffer.from(body, 'latin1')]);
    expect(typeof read === 'string' ? read : read.found.get('model')?.type).toBe('string');
  });
});
