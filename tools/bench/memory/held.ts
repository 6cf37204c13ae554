import { readFile, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { runLoad } from '../measure.ts';
import type { LoadPlan, Measured, Target } from '../plan.ts';

/** After this time, the connections to the upstream that earlier streams have left are closed. */
const allClosedMs = 6_000;
/** Streams begin within a second and last several: all run at this time after the first began. */
const allRunMs = 2_500;

/** Flags with which a server reports the memory that it holds. */
export const heldFlags = ['--expose-gc', '--import', import.meta.resolve('./tell-held.ts')];

/** Runs streams, and lets the server collect garbage before them and while all of them run. */
export async function measureHeld(target: Target, round: number, plan: LoadPlan): Promise<Measured> {
  await pause(allClosedMs);
  const idle = await askHeld(target);
  let busy: Promise<number | null> | undefined;
  const result = await runLoad(plan, () => {
    busy ??= pause(allRunMs).then(() => askHeld(target));
  });
  const most = (await busy) ?? null;
  return {
    ...result,
    target: target.name,
    round,
    serverCore: Number.NaN,
    answerMs: Number.NaN,
    eventUs: null,
    streamKib: null,
    heldKib: idle === null || most === null ? null : (most - idle) / 1024 / plan.connections,
  };
}

/** @returns bytes; null: the server does not report them. @throws Error if it does not answer within 30 s. */
async function askHeld({ heldFile, pid }: Target): Promise<number | null> {
  if (heldFile === null) return null;
  await rm(heldFile, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (let tries = 0; tries < 300; tries++) {
    await pause(100);
    const content = await readFile(heldFile, 'utf8').catch(() => '');
    if (content.endsWith('\n')) return Number(content);
  }
  throw new Error(`process ${pid} did not report what it holds`);
}
