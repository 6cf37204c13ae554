import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logWhatIsPrinted } from '#lib/programs/process/printed';

describe('what is printed beside the log', () => {
  let lines: string[];
  let restore: () => void;
  beforeEach(() => {
    lines = [];
    restore = logWhatIsPrinted(pino({ base: null }, { write: (line) => lines.push(line) }));
  });
  afterEach(() => restore());

  const logged = () => lines.map((line) => JSON.parse(line));

  it('becomes one line of JSON, however many lines it has, without colours', () => {
    process.stderr.write('\u001b[31mError: aborted\u001b[39m\n    at abortIncoming\n    at socketOnClose\n');
    process.stdout.write(Buffer.from(' ▲ Next.js\n'));
    process.stdout.write('\n');
    expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
    expect(logged()).toMatchObject([
      { level: 50, printed: 'Error: aborted\n    at abortIncoming\n    at socketOnClose' },
      { level: 30, printed: '▲ Next.js' },
    ]);
  });

  it('includes Node’s warnings, except those about its experimental features', async () => {
    process.emitWarning('too many listeners', 'MaxListenersExceededWarning');
    process.emitWarning('new here', 'ExperimentalWarning');
    await turn();
    expect(logged()).toMatchObject([{ level: 40, warning: 'MaxListenersExceededWarning' }]);
  });

  it('calls back after each write', async () => {
    await new Promise((resolve) => process.stderr.write('one', resolve));
    await new Promise((resolve) => process.stderr.write('two', 'utf8', resolve));
    expect(logged()).toHaveLength(2);
  });
});
