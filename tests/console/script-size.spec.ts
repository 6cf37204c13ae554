import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'playwright/test';

const built = join(import.meta.dirname, '../../.next');
/** Compressed script that a page may load before the first click; charts and popups come later. */
const mostBytes = 200_000;
interface Manifest {
  readonly entryJSFiles: Readonly<Record<string, readonly string[]>>;
}

const sizes = new Map<string, number>();
function compressed(file: string): number {
  const known = sizes.get(file) ?? gzipSync(readFileSync(join(built, file))).length;
  sizes.set(file, known);
  return known;
}

/** The chunks of a page and its layouts, as the build lists them. */
function chunksOf(file: string): Set<string> {
  const global: { __RSC_MANIFEST?: Record<string, Manifest> } = {};
  runInNewContext(readFileSync(join(built, file), 'utf8'), { globalThis: global });
  const [manifest] = Object.values(global.__RSC_MANIFEST ?? {});
  const entries = Object.entries(manifest?.entryJSFiles ?? {});
  return new Set(entries.flatMap(([entry, files]) => (/\/(page|layout)$/.test(entry) ? files : [])));
}

test('no console page loads more than 200 kB of compressed script before the first click', () => {
  const { rootMainFiles }: { rootMainFiles: string[] } = JSON.parse(
    readFileSync(join(built, 'build-manifest.json'), 'utf8'),
  );
  const manifests = globSync('server/app/**/page_client-reference-manifest.js', { cwd: built });
  const pages = manifests.map((file) => {
    const chunks = new Set([...rootMainFiles, ...chunksOf(file)]);
    const bytes = [...chunks].reduce((sum, chunk) => sum + compressed(chunk), 0);
    return { page: file.replace(/^server\/app\/|\/page_client-reference-manifest\.js$/g, ''), bytes };
  });
  expect(pages.length).toBeGreaterThan(10);
  expect(pages.filter(({ bytes }) => bytes > mostBytes)).toEqual([]);
});
