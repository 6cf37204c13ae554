import type { LimitUse } from '#lib/gateway/limits/pure/limit-book';
import { askProcesses } from '#lib/gateway/snapshot/announce';

const nothing: LimitUse = { requests: 0, tokens: 0, atOnce: 0 };

/** What counts against the limits of a key in the processes that run on this data directory, one entry a process. */
export async function readLimitUse(dataDir: string, keyId: string): Promise<readonly LimitUse[]> {
  return (await askProcesses(dataDir, `use ${keyId}`)).map(reported);
}

/** A process of this very program answers with what `LimitBook.usageOf` gives. */
function reported(answer: string): LimitUse {
  try {
    return JSON.parse(answer) ?? nothing;
  } catch {
    return nothing;
  }
}
