import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { importedPackages } from '../../scripts/image/packages.mjs';

const root = new URL('../../', import.meta.url).pathname;
const { dependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const image = readFileSync(`${root}Dockerfile`, 'utf8');
const flags: string[] = JSON.parse(readFileSync(`${root}scripts/server-flags.json`, 'utf8'));

it('what a running gateway imports is installed without the packages of tests and tools', () => {
  const imported = importedPackages(root);
  expect(imported.length).toBeGreaterThan(15);
  expect(imported.filter((name) => !Object.hasOwn(dependencies, name))).toEqual([]);
});

it('the image starts the server as npm start does, as a user without rights', () => {
  expect(image).toContain(`CMD ${JSON.stringify([...flags, 'dist/server.js']).replaceAll(',', ', ')}`);
  expect(image).toMatch(/\nUSER 65532:65532\n/);
});
