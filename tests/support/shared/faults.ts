/** The lines of a log but for those that only tell that the machine was too busy for a time limit of the database. */
export function faultsIn(log: string): string[] {
  const busy = /Query read timeout|timeout exceeded when trying to connect|due to connection timeout/;
  return log.split('\n').filter((line) => line !== '' && !busy.test(line));
}
