import { closeSync, openSync } from 'node:fs';
import { machineFaultOf } from '#lib/core/machine-fault';

/**
 * What this machine was short of for a connection that failed, as an error that says so; null: nothing
 * (contract: call-log/machine-faults). A process that has no file descriptors left cannot resolve names either, and
 * that error does not say why.
 */
export function shortageIn(failure: unknown): Error | null {
  if (!(failure instanceof Error)) return null;
  if (machineFaultOf(failure) !== null) return failure;
  const code = 'code' in failure ? String(failure.code) : '';
  return /^(ENOTFOUND|EAI_)/.test(code) ? outOfFiles() : null;
}

function outOfFiles(): Error | null {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return null;
  } catch (error) {
    return error instanceof Error && machineFaultOf(error) === 'machine_files' ? error : null;
  }
}
