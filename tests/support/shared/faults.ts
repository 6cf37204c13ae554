/** What is logged when the machine was too busy for a time limit of the database. */
const busy =
  /Query read timeout|timeout exceeded when trying to connect|due to (connection|statement|lock) timeout|the database did not answer within/;

/** The lines of a log but for those that only tell that the machine was too busy. */
export function faultsIn(log: string): string[] {
  return log.split('\n').filter((line) => line !== '' && !busy.test(line));
}

/** Whether the database did not answer in time. */
export function busyIn(log: string): boolean {
  return busy.test(log);
}
