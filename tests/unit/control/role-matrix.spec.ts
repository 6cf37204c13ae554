import { expect, it } from 'vitest';
import type { Operation } from '#lib/control/operations/declare';
import { operations } from '#lib/control/operations/operations';
import { may, roles } from '#lib/core/role';

const head = `# Who may do what

Every operation of the control plane, from the console, from the command line (which acts as the operator) or with a
management key on \`/api/v1\`. Operators may do everything in every workspace. In a suspended workspace, only operators
can change anything; its members can still read. A management key may do what its role may.

This page is generated from the declarations in \`lib/control/operations\`: after a change, run the spec \`role-matrix\`
with \`-u\`.
`;

function commandOf({ name, line, fields }: Operation): string {
  if (line === null) return '';
  const words = (line.arguments ?? []).map((one) =>
    one === 'workspace' ? 'SLUG' : (fields[one]?.placeholder ?? one.toUpperCase()),
  );
  return `\`gateway ${[line.command ?? name.replace('.', ' '), ...words].join(' ')}\``;
}

function rowOf(operation: Operation): string {
  const { name, permission, reach, http } = operation;
  const marks = roles.map((role) =>
    reach !== 'gateway' && (permission === null || may(role, permission)) ? '✓' : '',
  );
  const addresses = http.map(({ method, path }) => `\`${method} ${path}\``).join('<br>');
  return `| ${[`\`${name}\``, ...marks, '✓', commandOf(operation), addresses].join(' | ')} |`;
}

function tableOf(noun: string, own: readonly Operation[]): string {
  const titles = ['Operation', ...roles, 'operator', 'Command', 'Address under `/api/v1`'];
  const rule = titles.map((_, at) => (at > 0 && at <= roles.length + 1 ? ':-:' : '---'));
  const lines = [titles, rule].map((cells) => `| ${cells.join(' | ')} |`);
  const kinds = own.map(({ name, summary }) => `- \`${name}\`: ${summary}`);
  return [`## ${noun}`, '', ...lines, ...own.map(rowOf), '', ...kinds, ''].join('\n');
}

it('the page of roles says what the declarations say', async () => {
  const nouns = Map.groupBy(operations, ({ name }) => name.split('.')[0] ?? '');
  const tables = [...nouns].map(([noun, own]) => tableOf(noun, own));
  await expect([head, ...tables].join('\n')).toMatchFileSnapshot('../../../docs/roles.md');
});
