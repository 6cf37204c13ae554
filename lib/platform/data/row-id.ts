import { systemClock } from '#lib/platform/clock';
import { createIds } from '#lib/platform/ids';

const ids = createIds(systemClock);

/** A new row id (UUIDv7). @throws Error when the machine's clock is outside 2025–2100. */
export function newRowId(): string {
  const id = ids.newId();
  if (id === null) throw new Error("this machine's clock is wrong; correct it, then try again");
  return id;
}
