import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';

/** Fewer are not enough under ordinary load: a running call has two connections (contract: operations/open-files). */
const FEWEST = 4096;

/** Warns if the limit of open files is too low. @param limits as Linux reports them; other systems do not. */
export function warnOfFewFiles(log: Pick<Logger, 'warn'>, limits: string = limitsOfProcess()): void {
  const most = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  if (most >= FEWEST) return;
  log.warn(
    { openFiles: most },
    `this process may open only ${most} files and connections, and a running call needs two: raise the limit to at least 4096 (ulimit -n; LimitNOFILE in systemd)`,
  );
}

function limitsOfProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
