import { describe, expect, it } from 'vitest';
import { awayOr } from '#lib/platform/data/database-errors';
import { OperatorError } from '#lib/platform/operator-error';

const url = 'postgresql://me:secret@db.internal/books';
const failed = (message: string, parts: object = {}) => Object.assign(new Error(message), parts);

describe('an error of the first use of the database (contract: operations/refused-start)', () => {
  it('of a migration is known by its cause', () => {
    const cause = failed('must be owner of table call', { code: '42501' });
    const error = awayOr(new Error('Migration x failed; nothing was changed.', { cause }), url);
    expect(error).toBeInstanceOf(OperatorError);
    expect(String(error)).toContain('the role me may not create tables in the database books at db.internal');
    expect(String(error)).not.toContain('secret');
  });

  it.each([
    failed('spawn EAGAIN', { code: 'EAGAIN' }),
    failed('too many open files', { code: 'EMFILE', syscall: 'connect' }),
    failed('no space left on device', { code: 'ENOSPC', syscall: 'write' }),
    failed('syntax error', { code: '42601' }),
    failed('anything'),
  ])('that is another fault stays what it is: $message', (error) => {
    expect(awayOr(error, url)).toBe(error);
  });

  it.each([
    failed('connect ENOENT /run/pg/.s.PGSQL.5432', { code: 'ENOENT', syscall: 'connect' }),
    failed('timeout expired'),
    failed('Connection terminated unexpectedly'),
    failed('the database system is starting up', { code: '57P03' }),
  ])('is one of a server that is not there: $message', (error) => {
    expect(String(awayOr(error, url))).toContain('Start it, or correct DATABASE_URL.');
  });
});
