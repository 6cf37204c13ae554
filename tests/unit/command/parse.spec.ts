import { expect, it } from 'vitest';
import { demo } from '#lib/programs/command/demo';
import { parse } from '#lib/programs/command/parse';

it.each([
  ['at the end', ['--days', '2', '--postgresql']],
  ['before another option', ['--postgresql', '--days', '2']],
  ['with its value', ['--postgresql', 'on', '--days', '2']],
])('a switch of a command means "on": %s', (_, options) => {
  const { input } = parse(['demo', 'fill', ...options], demo);
  expect(input).toEqual({ positionals: [], options: { days: '2', postgresql: 'on' } });
});
