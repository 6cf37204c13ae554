import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';

/** Fewer are used up by ordinary load: a running call has two connections (contract: operations/open-files). */
const FEWEST = 4096;

/** Warns of a limit of open files that calls would run into. @param limits as Linux tells them; other systems do not. */
export function warnOfFewFiles(log: Pick<Logger, 'warn'>, limits: string = limitsOfProcess()): void {
  const most = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  if (most >= FEWEST) return;
  log.warn(
    { openFiles: most },
    `this process may have ${most} files and connections open, and a running call takes two: raise the limit to 4096 at least (ulimit -n; LimitNOFILE of systemd)`,
  );
}

function limitsOfProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
