import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '#lib/core/families/reading/json';
import type { TextProtocol } from '#lib/core/translation/conversation';

/** A body, and where it came from. */
export interface Typed {
  readonly protocol: TextProtocol;
  readonly body: JsonObject;
  readonly from: string;
}

/** The type `Body` of each protocol, from the official SDK: its types are the published schema. */
const types: Readonly<Record<TextProtocol, string>> = {
  chat: "import type { ChatCompletionCreateParams as Body } from 'openai/resources/chat/completions';",
  responses: "import type { ResponseCreateParams as Body } from 'openai/resources/responses/responses';",
  // The SDK speaks a later version than 2023-06-01, which is sent and has these three.
  messages: `import type { MessageCreateParams } from '@anthropic-ai/sdk/resources/messages/messages';
    type Body = MessageCreateParams & { temperature?: number; top_p?: number; top_k?: number };`,
  // The SDK has values of enums, and splits the body over its settings.
  'generate-content': `import type * as google from '@google/genai';
    type Plain<T> = T extends string ? \`\${T}\` | Lowercase<\`\${T}\`>
      : T extends readonly (infer E)[] ? Plain<E>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
    type Body = Plain<{ contents: google.Content[]; systemInstruction?: google.Content;
      generationConfig?: google.GenerationConfig } & Pick<google.GenerateContentConfig,
      'toolConfig' | 'safetySettings' | 'cachedContent' | 'labels'> & { tools?: google.Tool[] }>;`,
};

const modules = new URL('../../../node_modules/', import.meta.url).pathname;
const compilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: 'es2024',
  module: 'esnext',
  moduleResolution: 'bundler',
  paths: { '*': [`${modules}*`] },
  typeRoots: [`${modules}@types`],
  types: ['node'],
};

/** What the TypeScript compiler finds wrong with the bodies, by where each came from. */
export async function typeErrors(bodies: readonly Typed[]): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bodies-'));
  try {
    const files = bodies.map((_, index) => `body-${index}.ts`);
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    for (const [index, { protocol, body }] of bodies.entries()) {
      const text = `${types[protocol]}\nexport const body: Body = ${JSON.stringify(body)};\n`;
      await writeFile(join(folder, `body-${index}.ts`), text);
    }
    const output = await compile(folder);
    return output
      .split(/^(?=body-\d+\.ts\()/m)
      .filter((error) => error.trim() !== '')
      .map((error) => {
        const [, index, what] = /^body-(\d+)\.ts\S* (.*)/s.exec(error) ?? [];
        const { from, protocol } = bodies[Number(index)] ?? {};
        return `${from}, as ${protocol}: ${what ?? error}`;
      });
  } finally {
    await rm(folder, { recursive: true });
  }
}

function compile(folder: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const tsc = join(modules, 'typescript/bin/tsc');
  const options = { cwd: folder, maxBuffer: 64 * 1024 * 1024 };
  execFile(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], options, (error, stdout) => {
    // With its words, it exits with 1 or 2.
    if (error && stdout === '') reject(error);
    else resolve(stdout);
  });
  return promise;
}
