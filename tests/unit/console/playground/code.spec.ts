import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { readSnippets } from '#lib/console/guide/snippets';
import { codeOf, shortened } from '#lib/console/playground/code';
import { type Draft, firstSettings, playgroundFamilies } from '#lib/console/playground/draft';
import { requestOf } from '#lib/console/playground/request';

const examples = await readSnippets('https://gateway.test');
const asked: Draft = {
  model: 'vendor/name',
  output: ['text'],
  turns: [{ role: 'user', text: `It's "quoted" \\ and\ntwo lines, 日本 ${'x'.repeat(80)}`, files: [] }],
  settings: { ...firstSettings, system: "don't", temperature: '0', maxTokens: '64' },
};
const codeFor = (family: (typeof playgroundFamilies)[number], settings: Partial<Draft['settings']> = {}) => {
  const request = requestOf(family, { ...asked, settings: { ...asked.settings, ...settings } });
  return { request, codes: codeOf(request, examples) };
};

describe('the code of a request', () => {
  it.each([
    ['chat', ['curl', 'OpenAI, Python', 'OpenAI, JavaScript']],
    ['responses', ['curl', 'OpenAI Responses, Python', 'OpenAI Responses, JavaScript']],
    ['messages', ['curl', 'Anthropic, Python', 'Anthropic, JavaScript']],
    ['generate-content', ['curl', 'Google Gen AI, Python', 'Google Gen AI, JavaScript']],
    ['images', ['curl', 'OpenAI, Python', 'OpenAI, JavaScript']],
    ['videos', ['curl', 'OpenAI, Python', 'OpenAI, JavaScript']],
    ['speech', ['curl', 'OpenAI, JavaScript']],
    ['embeddings', ['curl', 'OpenAI, Python', 'OpenAI, JavaScript']],
    ['rerank', ['curl']],
  ] as const)('of %s is there for curl and each SDK', (family, labels) => {
    expect(codeFor(family).codes.map(({ label }) => label)).toEqual(labels);
  });

  it.each(playgroundFamilies)('for curl sends exactly the body of %s to its address', (family) => {
    const { request, codes } = codeFor(family);
    const [, address] = /^curl '?([^' ]+)/.exec(codes[0]?.code ?? '') ?? [];
    expect(address).toBe(`https://gateway.test${request.path}`);
    const [, data = ''] = /-d '([\s\S]*)'$/.exec(codes[0]?.code ?? '') ?? [];
    expect(JSON.parse(data.replaceAll("'\\''", "'"))).toEqual(request.body);
  });

  it('for curl sends a file as a part of a form', () => {
    const file = { name: "it's.wav", mediaType: 'audio/wav', base64: 'AAAA' };
    const turns = [{ role: 'user', text: '', files: [file] } as const];
    const codes = codeOf(requestOf('transcriptions', { ...asked, turns }), examples);
    expect(codes.map(({ code }) => code)).toEqual([
      [
        'curl https://gateway.test/v1/audio/transcriptions',
        '-H "Authorization: Bearer $GATEWAY_API_KEY"',
        '-F model=vendor/name',
        "-F 'file=@it'\\''s.wav'",
      ].join(' \\\n  '),
    ]);
  });

  it.each(['chat', 'responses', 'messages', 'images', 'videos'] as const)(
    'for JavaScript passes exactly the body of %s to the SDK',
    (family) => {
      const { request, codes } = codeFor(family);
      const code = codes.at(-1)?.code ?? '';
      const [, args = ''] = /await client\.[\w.]+\(([\s\S]*)\);\n/.exec(code) ?? [];
      expect(JSON.parse(runInNewContext(`JSON.stringify(${args})`))).toEqual(request.body);
      expect(code).toContain("baseURL: 'https://gateway.test");
      expect(code).toContain(request.streamed ? 'for await (const event of answer)' : 'console.log(');
    },
  );

  it('for Python has the members of the body as arguments, with Python’s True, False and None', () => {
    const python = codeFor('chat', { stream: true }).codes[1]?.code ?? '';
    expect(python).toContain('answer = client.chat.completions.create(\n    model="vendor/name",\n');
    expect(python).toContain('    stream=True,\n    stream_options={"include_usage": True},\n)\n');
    expect(python.endsWith('for event in answer:\n    print(event)')).toBe(true);
    const whole = codeFor('messages', { stream: false }).codes[1]?.code ?? '';
    expect(whole).toContain('    max_tokens=64,\n    system="don\'t",\n');
    expect(whole.endsWith('print(answer.content[0].text)')).toBe(true);
  });

  it('for the Google SDK has model, contents and config as separate arguments', () => {
    const [, python, js] = codeFor('generate-content').codes;
    expect(python?.code).toContain('client.models.generate_content_stream(\n    model="vendor/name",\n');
    expect(python?.code).toContain('"system_instruction": {"parts": [{"text": "don\'t"}]}');
    expect(js?.code).toContain('await client.models.generateContentStream({');
    expect(js?.code).toContain('maxOutputTokens: 64');
  });

  it('is shown with long Base64 shortened to its beginning and its length', () => {
    expect(shortened(`a "${'A'.repeat(500)}" b`)).toBe(`a "${'A'.repeat(48)}… (500 characters)" b`);
  });
});
