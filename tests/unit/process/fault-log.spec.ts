import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createFaultLog } from '#lib/programs/process/fault-log';

/** A log of faults on a clock that the test moves, and its lines. */
function keeping(allowedMs = 0) {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line) => lines.push(JSON.parse(line)) });
  const clock = { nowMono: 0, mono: () => clock.nowMono };
  return { lines, clock, faults: createFaultLog(log, clock, allowedMs) };
}

const withCode = (code: string) => Object.assign(new Error(`it failed with ${code}`), { code });

describe('the log of a gateway (contract: durability/database-away)', () => {
  it('has one line when the database goes and one when it answers again', () => {
    const { lines, clock, faults } = keeping();
    faults.report(withCode('ECONNREFUSED'), null);
    faults.report(withCode('57P01'), 'a-call');
    faults.report(new Error('timeout exceeded when trying to connect'), null);
    faults.report(new Error('a job failed', { cause: new Error('Query read timeout') }), null);
    clock.nowMono = 30_000;
    faults.databaseAnswers();
    faults.databaseAnswers();
    expect(lines).toEqual([
      {
        level: 50,
        reason: 'it failed with ECONNREFUSED',
        msg: 'the database is unavailable: running calls finish, and new calls are accepted while leases last',
      },
      { level: 30, awayMs: 30_000, failed: 4, msg: 'the database is available again' },
    ]);
  });

  it('says how long calls go on where the operator allows it (contract: money/outage-allowance)', () => {
    const { lines, faults } = keeping(600_000);
    expect(faults.isDatabaseAway()).toBe(false);
    faults.report(withCode('ECONNREFUSED'), null);
    expect(lines).toMatchObject([
      { msg: 'the database is unavailable: running calls finish, and new calls are accepted for 10 min' },
    ]);
    expect(faults.isDatabaseAway()).toBe(true);
    faults.databaseAnswers();
    expect(faults.isDatabaseAway()).toBe(false);
  });

  it('has a line for each outage', () => {
    const { lines, faults } = keeping();
    for (let outage = 0; outage < 2; outage += 1) {
      faults.report(withCode('ECONNRESET'), null);
      faults.databaseAnswers();
    }
    expect(lines).toHaveLength(4);
  });

  it.each([
    ['a file that is closed to it', withCode('EPERM')],
    ['a refused row', withCode('23505')],
    ['a defect', new TypeError('x is undefined')],
  ])('shows %s with its stack and its call', (_, error) => {
    const { lines, faults } = keeping();
    faults.report(error, 'a-call');
    expect(lines).toMatchObject([{ msg: 'fault', callId: 'a-call', reason: error.stack }]);
  });
});

describe('a fault of this machine in the log (contract: call-log/machine-faults)', () => {
  it('has one line a minute with its remedy, however often it is met', () => {
    const { lines, clock, faults } = keeping();
    for (const at of [0, 10, 59_999, 60_000, 60_001]) {
      clock.nowMono = at;
      faults.report(new Error('no journal', { cause: withCode('EMFILE') }), `${at}`);
    }
    faults.report(withCode('ENOSPC'), null);
    expect(lines).toEqual([
      {
        level: 50,
        callId: '0',
        fault: 'machine_files',
        reason: 'no journal',
        repeated: 0,
        msg: expect.stringContaining('LimitNOFILE'),
      },
      {
        level: 50,
        callId: '60000',
        fault: 'machine_files',
        reason: 'no journal',
        repeated: 2,
        msg: expect.any(String),
      },
      {
        level: 50,
        callId: null,
        fault: 'machine_disk',
        reason: 'it failed with ENOSPC',
        repeated: 0,
        msg: expect.stringContaining('free space on the disk'),
      },
    ]);
  });
});
