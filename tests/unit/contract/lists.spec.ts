import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { alertKinds, quietHours } from '#lib/control/alerts/kinds';
import { operations } from '#lib/control/operations/operations';
import { errorTable } from '#lib/core/errors';
import { families, operations as familyOperations } from '#lib/core/families/index';
import { settingsSchema } from '#lib/core/schemas/settings';
import { commandsOf } from '#lib/programs/command/declared';

/** One section of a page of the contract. */
function rule(page: string, name: string): string {
  const text = readFileSync(`docs/contract/${page}.md`, 'utf8');
  return text.split(`\n### ${name}\n`)[1]?.split(/\n##/)[0] ?? '';
}

/** An address whatever its parameters are called. */
const unnamed = (address: string) => address.replace(/\{[^}]*\}/g, '{}');

/** Of an address that ends with a verb of generate-content, the verb: `:countTokens`. */
const lastOf = (address: string) => /:\w+$/.exec(address)?.[0] ?? address;

describe('the contract lists', () => {
  it('every error code of the gateway with its status, and no other', () => {
    const rows = rule('request', 'error-codes').matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm);
    const listed = [...rows].map(([, status, code]) => [code, Number(status)]);
    expect(listed, 'docs/contract/request.md, error-codes').toEqual(
      Object.entries(errorTable).map(([code, { status }]) => [code, status]),
    );
  });

  it('every command, and no other', () => {
    const lines = rule('operations', 'command-line').matchAll(/^gateway ([a-z-]+) ?([a-z|-]*)$/gm);
    const listed = [...lines].flatMap(([, noun, verbs = '']) =>
      verbs.split('|').map((verb) => `${noun} ${verb}`.trim()),
    );
    const undeclared = ['content export', 'demo fill', 'sandbox', 'health', 'doctor'];
    const declared = commandsOf(operations).map(({ name }) => name);
    expect(listed.sort(), 'docs/contract/operations.md, command-line').toEqual(
      [...declared, ...undeclared].sort(),
    );
  });

  it('every operation of a family with its method, and every family in the guide', () => {
    const table = rule('families', 'operations');
    const guide = readFileSync('docs/guide/families.md', 'utf8');
    const missing = familyOperations.filter(({ family, method, path }) => {
      const row = table.split('\n').find((line) => line.startsWith(`| ${family} |`)) ?? '';
      return !unnamed(row).includes(unnamed(lastOf(`/${path}`))) || !row.includes(method);
    });
    expect(
      missing.map(({ name }) => name),
      'missing in docs/contract/families.md, operations',
    ).toEqual([]);
    expect(
      families.filter(({ clientPath }) => !guide.includes(lastOf(clientPath))).map(({ id }) => id),
      'missing in docs/guide/families.md',
    ).toEqual([]);
  });

  it('every kind of alert and for how long it is not sent again, and no other', () => {
    const rows = rule('control-plane', 'alerts').matchAll(/^\| `(\w+)` \|.*\| ([^|]+) \|$/gm);
    const words = { 0: 'none', 1: '1 hour', 6: '6 hours', 24: '24 hours', 168: 'a week' } as Record<
      number,
      string
    >;
    expect(
      [...rows].map(([, kind, pause]) => [kind, pause]),
      'docs/contract/control-plane.md, alerts',
    ).toEqual(alertKinds.map((kind) => [kind, words[quietHours[kind]] ?? quietHours[kind]]));
  });

  it('every setting of the process', () => {
    const table = rule('operations', 'settings');
    const missing = Object.keys(settingsSchema.shape).filter((name) => !table.includes(`\`${name}\``));
    expect(missing, 'missing in docs/contract/operations.md, settings').toEqual([]);
  });
});
