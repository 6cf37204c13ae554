import { describe, expect, it } from 'vitest';
import { type FieldSpec, type Scan, scan } from '#lib/core/families/scan';

const spec: FieldSpec = {
  model: {},
  stream: {},
  max_tokens: {},
  stream_options: { fields: { include_usage: {} } },
  generationConfig: {
    aliases: ['generation_config'],
    fields: { maxOutputTokens: { aliases: ['max_output_tokens'] } },
  },
  tools: { each: { type: {} } },
  fallbacks: { each: { model: { guarded: true } } },
};

function read(body: string | Uint8Array): Scan {
  const result = scan(typeof body === 'string' ? Buffer.from(body) : body, spec);
  if ('fault' in result) throw new Error(result.fault);
  return result;
}

function faultOf(body: string | Uint8Array): string {
  const result = scan(typeof body === 'string' ? Buffer.from(body) : body, spec);
  return 'fault' in result ? result.fault : 'none';
}

describe('a body is read once, byte by byte (contract: body/one-pass)', () => {
  it('yields the value and the byte range of every guarded name', () => {
    const body = '{"x":"é","model" : "vendor/\\u0061b" ,"max_tokens":1e3,"stream":true}';
    const found = read(body).found;
    expect(found.get('model')).toMatchObject({ value: 'vendor/ab', type: 'string', spelling: 'model' });
    expect(found.get('max_tokens')?.value).toBe(1000);
    expect(found.get('stream')?.value).toBe(true);
    const { start = 0, end = 0 } = found.get('model') ?? {};
    expect(Buffer.from(body).toString('utf8', start, end)).toBe('"vendor/\\u0061b"');
  });

  it('reads guarded names inside guarded objects and nowhere else', () => {
    const result = read('{"stream_options":{"include_usage":false},"messages":[{"model":"a","model":"b"}]}');
    expect(result.found.get('stream_options.include_usage')?.value).toBe(false);
    expect(result.found.has('model')).toBe(false);
  });

  it('keeps the elements of an array apart, with what was read in each and kept of it', () => {
    const elements: FieldSpec = {
      input: {
        elements: (found) => found.filter(({ value }) => value !== 'no'),
        each: { id: {}, tools: { each: { type: {} } } },
      },
    };
    const body =
      '{"input":[{"id":"a"},[{"id":"x"}],"text",{},{"id":"no"},{"tools":[{"type":"t"}],"id":"no"}]}';
    const result = scan(Buffer.from(body), elements);
    if ('fault' in result) throw new Error(result.fault);
    expect(
      result.collected.map(({ path, value, start, end }) => [path, value ?? body.slice(start, end)]),
    ).toEqual([
      ['input[].id', 'a'],
      ['input[]', '{"id":"a"}'],
      ['input[].tools[].type', 't'],
      ['input[]', '{"tools":[{"type":"t"}],"id":"no"}'],
    ]);
  });

  it('treats null as absent but reports its place', () => {
    const result = read('{"max_tokens": null,"model":"m"}');
    expect(result.found.has('max_tokens')).toBe(false);
    expect(result.nulls.get('max_tokens')).toMatchObject({ start: 15, end: 19, type: 'null' });
  });

  it('distinguishes an empty object from one with members', () => {
    expect(read('{"stream_options": { } }').found.get('stream_options')?.empty).toBe(true);
    expect(read('{"stream_options":{"a":1}}').found.get('stream_options')?.empty).toBe(false);
    expect(read(' {\n} ').root).toEqual({ start: 1, end: 4, empty: true });
  });

  it('collects values of array elements in order', () => {
    const { collected } = read('{"tools":[{"type":"a"},5,[{"type":"no"}],{"type":"b","x":{"type":"no"}}]}');
    expect(collected.map(({ path, value }) => `${path}=${value}`)).toEqual([
      'tools[].type=a',
      'tools[].type=b',
    ]);
  });

  it('keeps the range of a field that has another type than expected', () => {
    expect(read('{"model":[1,{"a":2}]}').found.get('model')).toMatchObject({
      type: 'array',
      start: 9,
      end: 20,
    });
    expect(read('{"tools":{"type":"x"}}').collected).toEqual([]);
  });
});

describe('a guarded name stands once (contract: body/guarded-names)', () => {
  it.each([
    ['plainly', '{"model":"a","model":"b"}'],
    ['in an escaped spelling', '{"model":"a","\\u006dodel":"b"}'],
    ['as null', '{"model":null,"model":"b"}'],
    ['in its object', '{"stream_options":{"include_usage":true,"include_usage":false}}'],
    ['in two spellings of one field', '{"generationConfig":{},"generation_config":{}}'],
    ['deeper in two spellings', '{"generation_config":{"max_output_tokens":1,"maxOutputTokens":2}}'],
    ['in an array element that guards it', '{"fallbacks":[{"model":"a","model":"b"}]}'],
  ])('and is refused when repeated %s', (_how, body) => {
    expect(faultOf(body)).toMatch(/occurs twice; send it once/);
  });

  it('may occur again in another object', () => {
    expect(read('{"model":"a","metadata":{"model":"x","model":"y"}}').found.get('model')?.value).toBe('a');
    expect(read('{"fallbacks":[{"model":"a"},{"model":"b"}]}').collected).toHaveLength(2);
  });

  it.each(['Model', 'MODEL', '\\u004dodel', 'ſtream', 'Stream', 'max_toKens', 'GenerationConfig'])(
    'and is refused as "%s", which a decoder that ignores case would take for it',
    (key) => expect(faultOf(`{"${key}":1}`)).toMatch(/only in case; spell it/),
  );

  it('names the field and the byte', () => {
    expect(faultOf('{"a":1,"model":"x","model":"y"}')).toContain('at byte 19, field "model"');
    expect(faultOf('{"Max_Tokens":1}')).toContain('spell it "max_tokens"');
  });

  it('has harmless neighbours', () => {
    const body =
      '{"__proto__":{"model":1},"constructor":2,"modell":3,"mode":4,"modèl":5,"":6,"mo\\u0000el":7}';
    expect(faultOf(body)).toBe('none');
    expect(read('{"__proto__":1}').found.size).toBe(0);
  });
});

describe('a body that is not strict JSON is refused with the place (contract: body/json-limit, body/null-and-numbers)', () => {
  it.each([
    ['', 'empty'],
    ['  \n ', 'empty'],
    ['\ufeff{}', 'byte order mark'],
    ['[]', 'must be a JSON object'],
    ['"x"', 'must be a JSON object'],
    ['{"a":1,}', 'byte 7; a quoted key'],
    ['{"a":[1,]}', 'byte 8; a value'],
    ['{"a":1}x', 'byte 7; nothing may follow'],
    ['{"a":1}{}', 'byte 7; nothing may follow'],
    ['{"a" 1}', 'byte 5; a colon'],
    ['{a:1}', 'byte 1; a quoted key'],
    ["{'a':1}", 'byte 1; a quoted key'],
    ['{"a":1 "b":2}', 'byte 7; a comma'],
    ['{"a":[1}', 'byte 7; a comma or "]"'],
    ['{"a":01}', 'byte 6; a comma'],
    ['{"a":-}', 'byte 6; a digit'],
    ['{"a":1.}', 'byte 7; a digit'],
    ['{"a":1e+}', 'byte 8; a digit'],
    ['{"a":+1}', 'byte 5; a value'],
    ['{"a":NaN}', 'byte 5; a value'],
    ['{"a":tru}', 'byte 8; "true"'],
    ['{"a":"\\x"}', 'byte 6; this escape'],
    ['{"a":"\\u12g4"}', 'byte 6; this escape'],
    ['{"a":"\n"}', 'byte 6; a control character'],
    ['{"a":"b', 'ends too early, at byte 7'],
    ['{"a":"b\\', 'ends too early, at byte 8'],
    ['{"a":1', 'ends too early, at byte 6'],
    ['{"a":/**/1}', 'byte 5; a value'],
    ['{"a":1}\u00a0', 'byte 7; nothing may follow'],
  ])('%j', (body, expected) => expect(faultOf(body)).toContain(expected));

  it('names the byte that is not UTF-8, an encoded surrogate and a cut character included', () => {
    for (const [bytes, at] of [
      [[0xff], 6],
      [[0xc0, 0xaf], 6],
      [[0xed, 0xa0, 0x80], 6],
      [[0x61, 0xc3, 0xa9, 0xe2, 0x82], 9],
    ] as const) {
      const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);
      expect(faultOf(body)).toContain(`not valid UTF-8 at byte ${at}`);
    }
  });

  it('accepts what JSON allows: lone surrogate escapes, huge numbers, DEL, U+2028', () => {
    expect(faultOf('{"a":"\\ud800","b":1e999,"c":-0.0E-7,"d":"\u007f\u2028","e":"\\/"}')).toBe('none');
    expect(read('{"max_tokens":1e999}').found.get('max_tokens')?.value).toBe(Number.POSITIVE_INFINITY);
    expect(read('{"max_tokens":0.1e1}').found.get('max_tokens')?.value).toBe(1);
  });

  it('allows 512 levels and no more, however many brackets come', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect(faultOf(nested(512))).toBe('none');
    expect(faultOf(nested(513))).toContain('deeper than 512 levels at byte 516');
    expect(faultOf(`{"a":${'['.repeat(1_000_000)}`)).toContain('512 levels');
    expect(faultOf(`${'{"a":'.repeat(1_000_000)}`)).toContain('512 levels');
  });

  it('reads the next body untouched by one that failed half-way', () => {
    faultOf('{"generationConfig":{"maxOutputTokens":1,"x":[[[{"model":');
    expect(read('{"a":{"maxOutputTokens":2}}').found.size).toBe(0);
  });
});
