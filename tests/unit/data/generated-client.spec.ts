import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('the committed database client is what Prisma generates from the schema', () => {
  const folder = mkdtempSync(join(tmpdir(), 'client-'));
  cpSync('prisma/schema.prisma', join(folder, 'prisma/schema.prisma'));
  const { status, stderr } = spawnSync(
    process.execPath,
    ['node_modules/prisma-cli/build/index.js', 'generate', '--schema', join(folder, 'prisma/schema.prisma')],
    {
      encoding: 'utf8',
      env: { ...process.env, CHECKPOINT_DISABLE: '1', PRISMA_SCHEMA_ENGINE_BINARY: process.execPath },
    },
  );
  expect(status, stderr).toBe(0);
  expect(contents('generated')).toEqual(contents(join(folder, 'generated')));
});

/** Every file of a folder by its path, without the record of what the client was generated from. */
function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  return Object.fromEntries(
    files
      .filter(({ name }) => name !== '.stamp')
      .map(({ parentPath, name }) => {
        const path = join(parentPath, name);
        return [path.slice(folder.length), readFileSync(path, 'utf8')];
      }),
  );
}
