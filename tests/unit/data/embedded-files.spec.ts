import { describe, expect, it } from 'vitest';
import { rememberMissing } from '#lib/platform/data/embedded/files';

const makes = 0o100;
const error = { errno: 44 };

/** A file system that counts what it is asked for. */
function files() {
  const made = new Set<unknown>();
  const asked: unknown[] = [];
  return {
    made,
    asked,
    chmod: () => undefined,
    open(path: unknown, flags: unknown): unknown {
      asked.push(path);
      if (flags === makes) made.add(path);
      if (!made.has(path)) throw error;
      return path;
    },
  };
}

describe('a map of free space', () => {
  it('is looked for once while it is missing, and found when it is made', () => {
    const system = files();
    rememberMissing(system);
    for (let time = 0; time < 3; time++) expect(() => system.open('1_fsm', 0)).toThrow();
    expect(system.asked).toEqual(['1_fsm']);
    expect(system.open('1_fsm', makes)).toBe('1_fsm');
    expect(system.open('1_fsm', 0)).toBe('1_fsm');
  });

  it('is asked for again after an error that says something else, as is every other file', () => {
    const system = files();
    rememberMissing(system);
    for (let time = 0; time < 2; time++) expect(() => system.open('1', 0)).toThrow();
    expect(system.asked).toEqual(['1', '1']);
    error.errno = 51;
    for (let time = 0; time < 2; time++) expect(() => system.open('2_fsm', 0)).toThrow();
    expect(system.asked).toEqual(['1', '1', '2_fsm', '2_fsm']);
    error.errno = 44;
  });
});
