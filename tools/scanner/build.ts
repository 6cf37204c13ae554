import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { main } from 'assemblyscript/asc';

/** `node tools/scanner/build.ts` builds assembly/scanner.ts into lib/core/families/scan/quick-code.ts. */
const source = 'tools/scanner/assembly/scanner.ts';
const root = join(import.meta.dirname, '../..');
const flags = ['--runtime', 'stub', '-O3', '--noAssert', '--enable', 'simd', '--use', 'abort='];
const memory = ['--initialMemory', '6', '--maximumMemory', '6'];

/**
 * @returns the text of quick-code.ts: the same for the same source and version of the compiler.
 * @throws Error what the compiler says of the source.
 */
export async function build(): Promise<string> {
  let code = Buffer.alloc(0);
  const { error, stderr } = await main(
    [source, ...flags, ...memory, '--baseDir', root, '--outFile', 'scanner.wasm'],
    {
      writeFile: (_name, contents) => {
        code = Buffer.from(contents);
      },
    },
  );
  if (error) throw new Error(`${error.message}: ${stderr}`);
  return `/** WebAssembly, built from ${source} by tools/scanner/build.ts: base64. */
export const quickCode =
  '${code.toString('base64')}';
`;
}

if (import.meta.main) await writeFile(join(root, 'lib/core/families/scan/quick-code.ts'), await build());
