/** What this machine is short of, as the call log names it (contract: call-log/machine-faults). */
export type MachineFault = 'machine_files' | 'machine_memory' | 'machine_disk';

const known: Readonly<Record<string, MachineFault>> = {
  EMFILE: 'machine_files',
  ENFILE: 'machine_files',
  ENOMEM: 'machine_memory',
  ENOBUFS: 'machine_memory',
  ENOSPC: 'machine_disk',
  EDQUOT: 'machine_disk',
  EFBIG: 'machine_disk',
  EROFS: 'machine_disk',
  EIO: 'machine_disk',
};

/** Whether an error, or its cause, is a fault of this machine; null: it is not. */
export function machineFaultOf(error: unknown): MachineFault | null {
  if (!(error instanceof Error)) return null;
  const code = 'code' in error ? String(error.code) : '';
  return known[code] ?? machineFaultOf(error.cause);
}

/** Whether an attempt's error is one of these names. */
export function isMachineFault(name: string | null): boolean {
  return name?.startsWith('machine_') ?? false;
}
