import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSnippets, type Snippet, snippetsFor } from '#lib/console/guide/snippets';
import { joinStack } from '#tests/support/shared/join';
import { root, type Stack } from '#tests/support/stack';
import { silence } from '#tools/sandbox/audio/sound';

let stack: Stack;
beforeAll(async () => {
  stack = await joinStack();
});
afterAll(() => stack.close());

const written = await readSnippets('http://gateway.test');

describe('the examples of the guide, exactly as printed', () => {
  const families = ['chat', 'responses', 'messages', 'generate-content'];
  const others: Readonly<Record<string, string>> = {
    images: 'sandbox/print',
    videos: 'sandbox/film',
    embeddings: 'sandbox/vectors',
    rerank: 'sandbox/ranker',
    moderations: 'sandbox/moderator',
    speech: 'sandbox/speaker',
    transcriptions: 'sandbox/listener',
  };
  const examples = written
    .map((one) => ({ ...one, with: families.includes(one.family) ? 'sandbox/echo' : others[one.family] }))
    .filter(({ label }) => !label.includes('Python'));

  it.each(examples)('$name works with a key and nothing else', async (example) => {
    const { key } = await stack.key((await stack.workspace()).slug);
    const { model, code } = withAddress(example, stack.url);
    const [made] = snippetsFor([{ ...example, model, code }], `${example.with}`, [example.family]);
    const { output, exit } = await run(made?.code ?? '', example.label === 'curl', key);
    expect(exit, output).toBe(0);
    expect(output).not.toContain('"error":{');
    expect(output.length).toBeGreaterThan(2);
  });
});

function withAddress(snippet: Snippet, url: string): Snippet {
  return { ...snippet, code: snippet.code.replaceAll('http://gateway.test', url) };
}

/** Runs an example in a process of its own, inside the project, where its packages are found. */
async function run(code: string, shell: boolean, key: string): Promise<{ output: string; exit: unknown }> {
  const folder = mkdtempSync(join(root, '.example-'));
  try {
    const file = join(folder, 'example.mjs');
    writeFileSync(file, code);
    // The recording that the guide has made by then.
    writeFileSync(join(folder, 'sea.mp3'), Buffer.concat([...silence(1_000)]));
    const place = { cwd: folder, env: { ...process.env, GATEWAY_API_KEY: key } };
    const child = shell
      ? spawn('bash', ['-c', code.replaceAll('curl ', 'curl -sS ')], place)
      : spawn(process.execPath, [file], place);
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    const [exit] = await once(child, 'close');
    return { output, exit };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
