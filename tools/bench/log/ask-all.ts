import type { Pool } from 'pg';
import type { ControlHost } from '#lib/control/operations/run';
import type { Tenant } from './crowd.ts';
import { questionsOf } from './questions.ts';
import { explain, record } from './record.ts';

/** The result of one question. */
export interface Answered {
  readonly workspace: string;
  readonly name: string;
  readonly answer: string;
  /** The first time, ms. */
  readonly firstMs: number;
  /** Of the times after it, ms. */
  readonly fastestMs: number;
  readonly medianMs: number;
  readonly plans: readonly string[];
}

interface How {
  readonly untilMs: number;
  readonly times: number;
  say(text: string): void;
}

/** Asks all questions about one workspace, each several times, and lets the database explain their plans. */
export async function askAll(host: ControlHost, pool: Pool, tenant: Tenant, how: How): Promise<Answered[]> {
  const questions = await questionsOf(host, pool, tenant, how.untilMs);
  const recorder = record(pool);
  const all: Answered[] = [];
  for (const { name, ask } of questions) {
    const [firstMs, answer] = await timed(ask);
    const again: number[] = [];
    for (let time = 1; time < how.times; time++) again.push((await timed(ask))[0]);
    recorder.take();
    await ask();
    const plans = await explain(pool, recorder.take());
    recorder.take();
    again.sort((a, b) => a - b);
    const medianMs = again[Math.floor(again.length / 2)] ?? firstMs;
    const fastestMs = again[0] ?? firstMs;
    all.push({ workspace: tenant.slug, name, answer, firstMs, fastestMs, medianMs, plans });
    how.say(`${tenant.slug} ${name}: ${firstMs.toFixed(1)} ms, then ${medianMs.toFixed(1)} ms (${answer})`);
  }
  return all;
}

async function timed<R>(work: () => Promise<R>): Promise<[number, R]> {
  const startedMs = performance.now();
  const result = await work();
  return [performance.now() - startedMs, result];
}
