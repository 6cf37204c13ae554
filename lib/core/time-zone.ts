/** Zones that were looked up: making a formatter takes 50 µs. */
const known = new Map<string, boolean>();

/** Whether this runtime knows the zone by that IANA name; offsets such as "+02:00" are no zone. */
export function isTimeZone(zone: string): boolean {
  const before = known.get(zone);
  if (before !== undefined) return before;
  const found = /^[A-Za-z][A-Za-z0-9_+/-]*$/.test(zone) && isFormatted(zone);
  if (known.size < 1_000) known.set(zone, found);
  return found;
}

function isFormatted(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
