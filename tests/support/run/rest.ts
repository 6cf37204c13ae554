/**
 * The pause between two checks: longer the longer the wait, because checking slows down what is waited for.
 */
export function rest(startMs: number): Promise<void> {
  const ms = Math.min(250, Math.max(25, (performance.now() - startMs) / 10));
  return new Promise((resolve) => setTimeout(resolve, ms));
}
