import type { LoadPlan, LoadResult, Measured, Target } from './plan.ts';
import { processorMs, residentKib, run, startNode } from './processes.ts';

/** Runs one load against one target and watches the server. */
export async function measure(target: Target, round: number, plan: LoadPlan): Promise<Measured> {
  const child = startNode('rest', ['tools/bench/load.ts', JSON.stringify(plan)]);
  const idleKib = residentKib(target.pid);
  let peakKib = 0;
  const note = () => {
    peakKib = Math.max(peakKib, residentKib(target.pid));
  };
  const watch = plan.kind === 'streams' ? setInterval(note, 100) : undefined;
  const marks: { at: number; processorMs: number }[] = [];
  // The load prints a line after its warm-up and its result at the end: they delimit the measured time.
  const mark = (text: string) => {
    if (marks.length < text.split('\n').length - 1) {
      marks.push({ at: performance.now(), processorMs: processorMs(target.pid) });
    }
  };
  const text = await run(child, mark).finally(() => clearInterval(watch));
  const [from, to] = [marks[0], marks.at(-1)];
  const result: LoadResult = JSON.parse(text.trim().split('\n').at(-1) ?? '');
  return {
    ...result,
    target: target.name,
    round,
    serverCore: from && to ? (to.processorMs - from.processorMs) / (to.at - from.at) : Number.NaN,
    streamKib: plan.kind === 'streams' ? (peakKib - idleKib) / plan.connections : null,
    heldKib: null,
  };
}
