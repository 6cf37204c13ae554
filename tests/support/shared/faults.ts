/** Log lines that say that the machine was too busy for a time limit of the database, or of a write to it. */
const busy = new RegExp(
  [
    'Query read timeout',
    'timeout exceeded when trying to connect',
    'due to (connection|statement|lock|idle-in-transaction) timeout',
    'the database did not answer within',
    'settlement did not catch up in time',
    'Unable to start a transaction in the given time',
    'on an expired transaction',
  ].join('|'),
);

/** The lines of a log, without those that only say that the machine was too busy. */
export function faultsIn(log: string): string[] {
  return log.split('\n').filter((line) => line !== '' && !busy.test(line));
}

/** Whether the database did not answer in time. */
export function busyIn(log: string): boolean {
  return busy.test(log);
}
