import { requestBody } from './bodies/shapes.ts';
import { Connection, type Exchange, requestBytes } from './connection.ts';
import type { LoadPlan, LoadResult } from './plan.ts';
import { spread } from './statistics.ts';

/**
 * The load, a separate process: `node tools/bench/load.ts '{LoadPlan as JSON}'` prints a LoadResult as JSON.
 */
const none = { p50: 0, p99: 0 };
const empty: LoadResult = {
  events: 0,
  perSecond: 0,
  answers: 0,
  latencyMs: none,
  transitMs: none,
  gapMs: none,
  errors: 0,
};
const plan: LoadPlan = JSON.parse(process.argv[2] ?? '{}');
const kinds = { closed, open, streams, 'first-word': firstWord };
const result = await kinds[plan.kind]();
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(0);

/** Each connection sends its next request when the last one is answered. */
async function closed(): Promise<LoadResult> {
  const request = requestBytes(plan.key, requestBody(plan.shape, plan.model, false));
  const connections = await openAll(plan.connections);
  const measureFrom = performance.now() + plan.warmUpSeconds * 1000;
  const until = measureFrom + plan.seconds * 1000;
  const latencies: number[] = [];
  let errors = 0;
  const run = async (connection: Connection) => {
    for (;;) {
      const exchange = await connection.send(request);
      const now = performance.now();
      if (now > until) return;
      if (now < measureFrom) continue;
      if (exchange.status === 200) latencies.push(Number(exchange.endNs - exchange.startNs) / 1e6);
      else errors++;
    }
  };
  setTimeout(announce, plan.warmUpSeconds * 1000);
  await Promise.all(connections.map(run));
  const answers = latencies.length;
  return { ...empty, answers, perSecond: answers / plan.seconds, latencyMs: spread(latencies), errors };
}

/** Requests start by the clock, whether or not earlier ones are answered, so that every stall shows. */
async function open(): Promise<LoadResult> {
  const request = requestBytes(plan.key, requestBody(plan.shape, plan.model, false));
  const idle = await openAll(plan.connections);
  const latencies: number[] = [];
  let errors = 0;
  const warmUp = plan.warmUpSeconds * plan.perSecond;
  const total = warmUp + plan.seconds * plan.perSecond;
  const startNs = process.hrtime.bigint();
  const running: Promise<void>[] = [];
  for (let at = 0; at < total; at++) {
    const dueNs = startNs + BigInt(Math.round((at * 1e9) / plan.perSecond));
    await sleepUntil(dueNs);
    if (at === warmUp) announce();
    const connection = idle.pop() ?? (await Connection.open(plan.port));
    const settle = (exchange: Exchange) => {
      idle.push(connection);
      if (at < warmUp) return;
      if (exchange.status === 200) latencies.push(Number(exchange.endNs - dueNs) / 1e6);
      else errors++;
    };
    running.push(connection.send(request).then(settle));
  }
  await Promise.all(running);
  const answers = latencies.length;
  return { ...empty, answers, perSecond: plan.perSecond, latencyMs: spread(latencies), errors };
}

/** Many streams at once, started over one second so that their events are spread. */
async function streams(): Promise<LoadResult> {
  const request = requestBytes(plan.key, requestBody(plan.shape, plan.model, true));
  const connections = await openAll(plan.connections);
  const firstBytes: number[] = [];
  const transits: number[] = [];
  const gaps: number[] = [];
  let errors = 0;
  const run = async (connection: Connection, index: number) => {
    await new Promise((resolve) => setTimeout(resolve, (index * 1000) / plan.connections));
    let lastNs = 0n;
    let carry = '';
    const exchange = await connection.send(request, (text) => {
      const nowNs = process.hrtime.bigint();
      const lines = (carry + text).split('\n');
      carry = lines.pop() ?? '';
      for (const line of lines) {
        const sent = /"sent":"(\d+)"/.exec(line)?.[1];
        if (sent === undefined) continue;
        transits.push(Number(nowNs - BigInt(sent)) / 1e6);
        if (lastNs > 0n) gaps.push(Number(nowNs - lastNs) / 1e6);
        lastNs = nowNs;
      }
    });
    if (exchange.status !== 200) errors++;
    firstBytes.push(Number(exchange.firstByteNs - exchange.startNs) / 1e6);
  };
  announce();
  await Promise.all(connections.map(run));
  return {
    ...empty,
    answers: firstBytes.length,
    events: transits.length,
    latencyMs: spread(firstBytes),
    transitMs: spread(transits),
    gapMs: spread(gaps),
    errors,
  };
}

/** Streams with long bodies start by the clock while many others run; the time to their first byte is measured. */
async function firstWord(): Promise<LoadResult> {
  const beside = requestBytes(plan.key, requestBody('small', plan.besideModel, true));
  const request = requestBytes(plan.key, requestBody(plan.shape, plan.model, true));
  let over = false;
  let errors = 0;
  const busy = await openAll(plan.connections);
  const keepBusy = async (connection: Connection, index: number) => {
    await new Promise((resolve) => setTimeout(resolve, (index * 1000) / plan.connections));
    while (!over) if ((await connection.send(beside)).status !== 200) errors++;
  };
  const others = busy.map(keepBusy);
  const idle = await openAll(4);
  const firstBytes: number[] = [];
  const warmUp = plan.warmUpSeconds * plan.perSecond;
  const total = warmUp + plan.seconds * plan.perSecond;
  const startNs = process.hrtime.bigint();
  const running: Promise<void>[] = [];
  for (let at = 0; at < total; at++) {
    await sleepUntil(startNs + BigInt(Math.round((at * 1e9) / plan.perSecond)));
    if (at === warmUp) announce();
    const connection = idle.pop() ?? (await Connection.open(plan.port));
    const settle = (exchange: Exchange) => {
      idle.push(connection);
      if (exchange.status !== 200) errors++;
      else if (at >= warmUp) firstBytes.push(Number(exchange.firstByteNs - exchange.startNs) / 1e6);
    };
    running.push(connection.send(request).then(settle));
  }
  await Promise.all(running);
  over = true;
  await Promise.all(others);
  return {
    ...empty,
    perSecond: plan.perSecond,
    answers: firstBytes.length,
    latencyMs: spread(firstBytes),
    errors,
  };
}

/** Tells the parent that measuring begins. */
function announce(): void {
  process.stdout.write('measuring\n');
}

function openAll(count: number): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Connection.open(plan.port)));
}

function sleepUntil(dueNs: bigint): Promise<void> {
  const leftMs = Number(dueNs - process.hrtime.bigint()) / 1e6;
  return leftMs <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, leftMs));
}
