import { randomUUID } from 'node:crypto';
import { insist } from '#tests/support/eventually';
import type { Stack } from '#tests/support/stack';
import { requestText, talk } from '#tests/support/wire';
import type { EndLine } from '#tools/sandbox/truth-log';

/** A way to ask for an answer whose reasoning the client does not see. */
export interface Way {
  readonly name: string;
  readonly target: string;
  body(model: string, prompt: string): object;
}

const chat = (model: string, prompt: string) => ({ model, messages: [{ role: 'user', content: prompt }] });

export const ways: readonly Way[] = [
  {
    name: 'chat, streamed',
    target: '/v1/chat/completions',
    body: (model, prompt) => ({ ...chat(model, prompt), stream: true }),
  },
  { name: 'chat', target: '/v1/chat/completions', body: chat },
  {
    name: 'responses, streamed',
    target: '/v1/responses',
    body: (model, prompt) => ({ model, input: prompt, stream: true }),
  },
  {
    name: 'messages, streamed',
    target: '/v1/messages',
    body: (model, prompt) => ({ ...chat(model, prompt), max_tokens: 8_000, stream: true }),
  },
];

/** How a departed client's call ended, and what its provider would bill. Money in nano-dollars. */
export interface Departure {
  readonly way: string;
  readonly status: number;
  readonly endReason: string;
  readonly source: string;
  readonly outputTokens: number;
  readonly chargedNano: bigint;
  readonly holdNano: bigint;
  readonly billedNano: bigint;
}

interface Asked {
  /** A model of the test catalogue that costs $1, $4 and $5 a million for input, output and reasoning. */
  readonly model: string;
  /** How the simulated provider goes about it: "pace/10/40?reasoning=200". */
  readonly directive: string;
  /** The client leaves so long after the provider has its request, unless it has its answer by then. */
  readonly afterMs: number;
  /** Or as soon as what it has got satisfies this. */
  readonly when?: (raw: string) => boolean;
  readonly more?: object;
}

/** Sends a request, leaves, and waits until gateway and provider are done with it. */
export async function depart(stack: Stack, key: string, way: Way, asked: Asked): Promise<Departure> {
  return outcomeOf(stack, way, await leave(stack, key, way, asked));
}

/** Sends a request and leaves. @returns what stands in its prompt. */
export async function leave(stack: Stack, key: string, way: Way, asked: Asked): Promise<string> {
  const mark = randomUUID();
  const prompt = `Think about ${mark} [[${asked.directive}]]`;
  const body = JSON.stringify({ ...way.body(asked.model, prompt), ...asked.more });
  const headers = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/json',
    'X-Request-Id': mark,
    'Anthropic-Version': '2023-06-01',
  };
  const text = requestText('POST', way.target, headers, body);
  // From when the provider has it: a busy machine may take longer until then than the client has patience.
  await talk(stack.url, text, {
    ...(asked.when ? { leaveWhen: asked.when } : {}),
    afterwards: (socket) => {
      const leave = () => {
        setTimeout(() => socket.destroy(new Error('the client leaves')), asked.afterMs).unref();
      };
      // A request that the gateway refuses never gets there, and has its answer.
      stack.sandbox.begun(mark).then(leave, () => undefined);
    },
  });
  return mark;
}

/** How the call ended whose prompt holds `mark`, as soon as gateway and provider are done with it. */
export async function outcomeOf(stack: Stack, way: Way, mark: string): Promise<Departure> {
  const call = await callOf(stack, mark);
  // Only now: what left as soon as it came may have been on its way still.
  const [seen] = await stack.sandbox.seen(mark);
  const billedNano = seen ? billOf(await stack.sandbox.ended(seen.id)) : 0n;
  return { ...call, way: way.name, billedNano };
}

/** What a fair provider bills: its input, and the output that it made until its connection was closed. */
function billOf({ inputTokens, outputTokens, reasoningTokens }: EndLine): bigint {
  const reasoning = Math.min(reasoningTokens, outputTokens);
  return (
    BigInt(inputTokens) * 1_000n + BigInt(outputTokens - reasoning) * 4_000n + BigInt(reasoning) * 5_000n
  );
}

/** The call's row; its client may have left before it saw an id. */
function callOf(stack: Stack, mark: string): Promise<Omit<Departure, 'way' | 'billedNano'>> {
  return insist(async () => {
    // There is an index by workspace, none by what clients call their requests.
    const { rows } = await stack.db.pool.query(
      `SELECT status, end_reason AS "endReason", usage_source AS source, coalesce((usage->>'output')::int, 0) AS "outputTokens",
        cost_nano::text AS cost, hold_nano::text AS hold FROM call WHERE workspace_id = ANY($1) AND client_request_id = $2`,
      [stack.workspaces, mark],
    );
    const [row] = rows;
    if (!row) throw new Error(`the call ${mark} is not in the log`);
    const { cost, hold, ...rest } = row;
    return { ...rest, chargedNano: BigInt(cost), holdNano: BigInt(hold) };
  });
}

/** Runs `count` pieces of work, at most `atOnce` at a time; results in order. */
export async function inTurns<Result>(
  count: number,
  atOnce: number,
  work: (index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) results[index] = await work(index);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
  return results;
}

/** What all of them were charged as a share of what they would be billed. */
export function chargedShare(departures: readonly Departure[]): number {
  const sum = (of: (one: Departure) => bigint) => departures.reduce((total, one) => total + of(one), 0n);
  return Number(sum((one) => one.chargedNano)) / Number(sum((one) => one.billedNano));
}

/** Lets the gateway observe the speed of a model's offer by a whole answer. */
export async function observe(stack: Stack, key: string, model: string, directive: string): Promise<void> {
  const whole = ways.find(({ name }) => name === 'chat');
  const told = whole && (await depart(stack, key, whole, { model, directive, afterMs: 120_000 }));
  if (told?.source !== 'reported')
    throw new Error(`the answer that should tell the speed ended as ${told?.endReason}`);
}
