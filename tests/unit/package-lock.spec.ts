import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { z } from 'zod';

const names = z.record(z.string(), z.string()).optional();
const packages = z.record(
  z.string(),
  z.object({ version: z.string().optional(), resolved: z.string().optional(), optionalDependencies: names }),
);
const text = readFileSync(fileURLToPath(new URL('../../package-lock.json', import.meta.url)), 'utf8');
const locked = z.object({ packages }).parse(JSON.parse(text)).packages;

/** Where npm looks for `name` from the package at `path`, nearest first. */
function places(path: string, name: string): string[] {
  const parents = path
    .split('/node_modules/')
    .map((_, i, parts) => parts.slice(0, i + 1).join('/node_modules/'));
  return ['', ...parents].map((parent) => `${parent && `${parent}/`}node_modules/${name}`);
}

it('the lock names the optional packages of every platform: npm ci refuses a lock that leaves some out', () => {
  const left = Object.entries(locked).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !places(path, name).some((place) => locked[place])),
  );
  expect(left).toEqual([]);
});

it('the lock names no registry, so that everybody uses their own', () => {
  expect(Object.keys(locked).filter((path) => locked[path]?.resolved)).toEqual([]);
});
