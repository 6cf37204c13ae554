import type { Json, PlaygroundRequest } from '#lib/console/playground/draft';

/** An example from the guide: its address, its client, and how it reads the answer. */
export interface Example {
  readonly name: string;
  /** "OpenAI, Python". */
  readonly label: string;
  readonly family: string;
  readonly code: string;
}

export interface Code {
  readonly name: string;
  readonly label: string;
  readonly code: string;
}

/** The SDK methods for which the guide has no example. */
const otherMethods: Readonly<Record<string, string>> = {
  '/v1/images/generations': 'images.generate',
  '/v1/videos': 'videos.create',
};

/**
 * A request as code for each SDK of its protocol: the client of the guide's example, with exactly the body that is
 * sent. If an SDK has no method for it, there is only curl. Pure.
 */
export function codeOf(request: PlaygroundRequest, examples: readonly Example[]): Code[] {
  const curl = examples.find(({ name }) => name === 'curl');
  const sdks = examples.filter(({ name }) => /-(python|js)$/.test(name));
  const family = request.path in otherMethods ? 'chat' : request.family;
  return [
    ...(curl ? [{ name: 'curl', label: 'curl', code: curlOf(request, curl.code) }] : []),
    ...sdks.flatMap((sdk) => {
      if (sdk.family !== family) return [];
      const code = sdkOf(request, sdk);
      return code === null ? [] : [{ name: sdk.name, label: sdk.label, code }];
    }),
  ];
}

function curlOf({ path, body, file }: PlaygroundRequest, example: string): string {
  const [, base = ''] = /(https?:\/\/[^/\s]+)/.exec(example) ?? [];
  if (file) {
    const parts = Object.entries(body).map(([name, value]) => `-F ${quoted(`${name}=${value}`)}`);
    return [
      `curl ${base + path}`,
      '-H "Authorization: Bearer $GATEWAY_API_KEY"',
      ...parts,
      `-F ${quoted(`file=@${file.name}`)}`,
    ].join(' \\\n  ');
  }
  const data = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return [
    `curl ${/[?&*]/.test(path) ? `'${base}${path}'` : base + path} \\`,
    '  -H "Authorization: Bearer $GATEWAY_API_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '${data}'`,
  ].join('\n');
}

/** For a shell. */
function quoted(text: string): string {
  return /^[\w@./=:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The example's call with other arguments; null: the SDK has no method with the same body. */
function sdkOf(request: PlaygroundRequest, { name, code }: Example): string | null {
  if (request.file) return null;
  const python = name.endsWith('-python');
  const call = /^(?:const )?answer = (?:await )?client\.([\w.]+)\(/m.exec(code);
  const method = call && methodOf(request, call[1] ?? '', python);
  if (!call || !method) return null;
  const { body } = request;
  const { name: called, given } =
    request.family === 'generate-content'
      ? contentCall(method, request, python)
      : { name: method, given: body };
  const head = code.slice(0, call.index);
  const args = python ? pythonArguments(given) : literal(given, javascript, 0);
  const answer = python
    ? `answer = client.${called}(${args})`
    : `const answer = await client.${called}(${args});`;
  return `${head}${answer}\n${readingOf(request, code, python)}`;
}

function methodOf(request: PlaygroundRequest, method: string, python: boolean): string | null {
  const { family, path, job } = request;
  if (family === 'images' || family === 'videos') return otherMethods[path] ?? null;
  if (family !== 'generate-content') return method;
  // The SDK would write a different body for a prediction.
  if (job) return null;
  if (!request.streamed) return method;
  return python ? 'models.generate_content_stream' : 'models.generateContentStream';
}

/** That SDK takes the parts of address and body as a model, contents and a config. */
function contentCall(name: string, { path, body }: PlaygroundRequest, python: boolean) {
  const { contents = [], generationConfig = {}, systemInstruction } = body;
  const [, slug = ''] = /\/models\/(.+):/.exec(path) ?? [];
  const config = {
    ...(systemInstruction === undefined
      ? {}
      : { [python ? 'system_instruction' : 'systemInstruction']: systemInstruction }),
    ...(typeof generationConfig === 'object' && generationConfig !== null ? generationConfig : {}),
  };
  const given: { [name: string]: Json } = { model: decodeURIComponent(slug), contents };
  if (Object.keys(config).length > 0) given.config = config;
  return { name, given };
}

/** How the example reads its answer; a stream is read event by event. */
function readingOf({ streamed, family, path }: PlaygroundRequest, example: string, python: boolean): string {
  if (streamed) {
    return python
      ? 'for event in answer:\n    print(event)'
      : 'for await (const event of answer) console.log(event);';
  }
  if (family === 'images' || family === 'videos') {
    const what = path === '/v1/videos' ? 'answer.id' : 'answer.data';
    return python ? `print(${what})` : `console.log(${what});`;
  }
  return example.split('\n').at(-1) ?? '';
}

interface Language {
  readonly words: Readonly<Record<'true' | 'false' | 'null', string>>;
  key(name: string): string;
}

const javascript: Language = {
  words: { true: 'true', false: 'false', null: 'null' },
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)),
};
const python: Language = {
  words: { true: 'True', false: 'False', null: 'None' },
  key: (name) => JSON.stringify(name),
};

function pythonArguments(body: { readonly [name: string]: Json }): string {
  const lines = Object.entries(body).map(([name, value]) => `    ${name}=${literal(value, python, 1)},\n`);
  return `\n${lines.join('')}`;
}

function literal(value: Json, language: Language, depth: number): string {
  if (value === null) return language.words.null;
  if (typeof value === 'boolean') return language.words[value ? 'true' : 'false'];
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  const [indent, end] = [language === python ? '    ' : '  ', '\n'];
  const inner = `${end}${indent.repeat(depth + 1)}`;
  const outer = `${end}${indent.repeat(depth)}`;
  const list = isList(value);
  const lines = list
    ? value.map((one) => literal(one, language, depth + 1))
    : Object.entries(value).map(
        ([name, one]) => `${language.key(name)}: ${literal(one, language, depth + 1)}`,
      );
  if (lines.length === 0) return list ? '[]' : '{}';
  const short = lines.join(', ');
  if (short.length <= 60 && !short.includes('\n')) return list ? `[${short}]` : brace(short, language);
  const text = `${inner}${lines.join(`,${inner}`)},${outer}`;
  return list ? `[${text}]` : `{${text}}`;
}

function brace(short: string, language: Language): string {
  return language === python ? `{${short}}` : `{ ${short} }`;
}

function isList(value: readonly Json[] | { readonly [name: string]: Json }): value is readonly Json[] {
  return Array.isArray(value);
}

/** The code as shown: long Base64 is cut. What is copied is complete. */
export function shortened(code: string): string {
  return code.replace(/[A-Za-z0-9+/=]{200,}/g, (data) => `${data.slice(0, 48)}… (${data.length} characters)`);
}
