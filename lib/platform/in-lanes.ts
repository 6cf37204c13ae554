/**
 * Does everything that waits, at most `most` at a time. A lane begins when the one before it has found something:
 * usually nothing waits, and then every process of a fleet asks once and not `most` times.
 * @param one does what has waited longest; it calls `found` before it begins. Resolves to whether there was anything.
 * @throws what the first lane threw that failed, once all have ended.
 */
export async function inLanes(most: number, one: (found: () => void) => Promise<boolean>): Promise<void> {
  const failures: unknown[] = [];
  const lane = async (left: number): Promise<void> => {
    let next: Promise<void> | null = null;
    const found = () => {
      if (left > 1) next ??= lane(left - 1);
    };
    try {
      while (await one(found));
    } catch (error) {
      failures.push(error);
    }
    await next;
  };
  await lane(most);
  if (failures.length > 0) throw failures[0];
}
