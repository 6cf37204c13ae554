import type { LoadPlan, LoadResult, Measured, Target } from './plan.ts';
import { processorMs, residentKib, run, startNode, treeProcessorMs } from './processes.ts';

/** Runs a load to its end. @param onText gets what it has printed so far: a line after its warm-up, its result at the end. */
export async function runLoad(plan: LoadPlan, onText: (text: string) => void): Promise<LoadResult> {
  const text = await run(startNode('rest', ['tools/bench/load.ts', JSON.stringify(plan)]), onText);
  return JSON.parse(text.trim().split('\n').at(-1) ?? '');
}

/** Runs one load against one target and watches the server. */
export async function measure(target: Target, round: number, plan: LoadPlan): Promise<Measured> {
  const idleKib = residentKib(target.pid);
  let peakKib = 0;
  const note = () => {
    peakKib = Math.max(peakKib, residentKib(target.pid));
  };
  const watch = plan.kind === 'streams' ? setInterval(note, 100) : undefined;
  const marks: { at: number; processorMs: number; treeMs: number }[] = [];
  // The two lines delimit the measured time.
  const mark = (text: string) => {
    if (marks.length < text.split('\n').length - 1) {
      marks.push({
        at: performance.now(),
        processorMs: processorMs(target.pid),
        treeMs: treeProcessorMs(target.pid),
      });
    }
  };
  const result = await runLoad(plan, mark).finally(() => clearInterval(watch));
  const [from, to] = [marks[0], marks.at(-1)];
  const spentMs = from && to ? to.treeMs - from.treeMs : Number.NaN;
  return {
    ...result,
    target: target.name,
    round,
    serverCore: from && to ? (to.processorMs - from.processorMs) / (to.at - from.at) : Number.NaN,
    answerMs: spentMs / result.answers,
    eventUs: plan.kind === 'streams' ? (spentMs * 1000) / result.events : null,
    streamKib: plan.kind === 'streams' ? (peakKib - idleKib) / plan.connections : null,
    heldKib: null,
  };
}
