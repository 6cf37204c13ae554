import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { Dispatcher, errors } from 'undici';
import { describe, expect, it } from 'vitest';
import { isRefusal, Refused } from '#lib/core/errors';
import type { Family } from '#lib/core/families/family';
import type { FamilyId } from '#lib/core/families/ids';
import { families } from '#lib/core/families/index';
import { match } from '#lib/core/families/match';
import { scan } from '#lib/core/families/scan';
import { type ClaimedCall, extendCall } from '#lib/gateway/flow/call/call';
import type { Reply } from '#lib/gateway/flow/lane';
import { attemptTargets } from '#lib/gateway/flow/steps/attempt-targets';
import { relayAnswer } from '#lib/gateway/flow/steps/relay-answer';
import { unconfiguredRuntime } from '#lib/gateway/flow/unconfigured';
import { createHealth } from '#lib/gateway/routing/breaker';
import type { Target } from '#lib/gateway/routing/pure/target';
import { wellAnswered } from '#tests/gateway/after-headers/dialects';
import { model } from '#tests/gateway/contract/recorded/catalogue';
import * as exceptions from '#tests/gateway/contract/recorded/exceptions';
import { questionOf } from '#tests/gateway/contract/recorded/question';
import { type Exchange, readExchanges } from '#tests/gateway/contract/recorded/recording';
import { seed } from '#tests/support/run/draws';
import { calledBy } from '#tests/unit/families/make';
import { plannedCall } from '#tests/unit/gateway/make-call';
import { modelOf, offerAt, usd } from '#tests/unit/routing/make';
import { record } from '#tools/sandbox/content/tool-call';

const { answeredHere, jobs, brokeOff } = exceptions;
const ofJobs: readonly string[] = [jobs.create, jobs.list, jobs.predict, ...jobs.reads];
const randomCuts = 50;
/** Beyond this a whole answer counts as begun. */
const keptBytes = 1024 * 1024;

const recorded = readExchanges().filter(
  ({ file, answer, family }) =>
    !answeredHere.has(file) && !ofJobs.includes(file) && answer.status < 300 && family !== 'videos',
);

if (recorded.length === 0) it.skip('recorded traffic is not cut: ../shared/fixtures is not here', () => {});

/** A cut of one recorded answer. */
interface Cut {
  readonly at: number;
  readonly ends: 'properly' | 'torn';
  /** How many pieces it comes in. */
  readonly pieces: number;
  /** Its end comes with its last piece, as one packet brings both. */
  readonly atOnce: boolean;
}

/** What the client got of a call, and what the call's row will say. */
interface Outcome {
  readonly got: Buffer;
  /** null: a refusal. */
  readonly ended: 'whole' | 'torn' | null;
  readonly from: 'bad' | 'good' | null;
  readonly asked: readonly string[];
  readonly call: ClaimedCall;
}

describe.skipIf(recorded.length === 0)(
  'a recorded answer that is cut anywhere, alone and with a second provider',
  () => {
    const totals = { recordings: 0, cuts: 0, completed: 0, broken: 0, next: 0, refused: 0 };

    it.each(recorded.map((exchange) => [exchange.file, exchange] as const))('%s', async (_, exchange) => {
      const scene = sceneOf(exchange);
      if (scene === null) return;
      totals.recordings += 1;
      for (const cut of cutsOf(exchange)) {
        totals.cuts += 1;
        for (const providers of [['bad', 'good'], ['bad']]) {
          const outcome = await play(scene, cut, providers);
          if (outcome.from === 'good') totals.next += 1;
          else if (outcome.from === null) totals.refused += 1;
          else totals[outcome.call.outcome.endReason === 'completed' ? 'completed' : 'broken'] += 1;
          judge(scene, cut, outcome);
        }
      }
    });

    it('was cut at every event and at random', () => {
      console.log(`recorded cuts: ${JSON.stringify(totals)}`);
      expect(totals.cuts).toBeGreaterThan(totals.recordings * randomCuts);
    });
  },
);

interface Scene {
  readonly exchange: Exchange;
  readonly family: Family;
  readonly streamed: boolean;
  /** The good provider's answer. */
  readonly good: string;
  /** A new call of it, that may go to these. */
  call(providers: readonly string[]): ClaimedCall;
}

/** null: what was asked for generates nothing. */
function sceneOf(exchange: Exchange): Scene | null {
  const question = questionOf(exchange);
  const [path = ''] = question.target.split('?');
  const matched = match('POST', path);
  if (isRefusal(matched)) throw new Error(matched.message);
  const { operation, params } = matched;
  const family = [...families.values()].find((one) => one.operations.includes(operation));
  if (!family) throw new Error(`${path} is of no family`);
  if (operation.steps !== 'generate') return null;
  const scanned = scan(Buffer.from(question.body), operation.fields ?? {});
  if ('fault' in scanned) throw new Error(scanned.fault);
  const ask = family.readAsk({ operation, params, scan: scanned });
  if (isRefusal(ask)) throw new Error(ask.message);
  const text = exchange.body.toString('latin1', 0, 1);
  const framing = exchange.stream ? (text === '[' ? ('array' as const) : ('events' as const)) : undefined;
  return {
    exchange,
    family,
    streamed: framing !== undefined,
    good:
      family.id === 'images'
        ? goodPicture(exchange.stream)
        : wellAnswered(
            { family: family.id, streamed: framing !== undefined, ...(framing ? { framing } : {}) },
            'other',
          ),
    call: (providers) => {
      const targets = providers.map((provider) => targetAt(provider, family.id));
      const call = plannedCall(family, ask, targets);
      const { key, workspace } = call.snapshot;
      call.outcome.holdNano = 1_000_000_000_000n;
      return extendCall(call, {
        claim: {
          callId: call.id,
          workspaceId: workspace.id,
          keyId: key.id,
          admittedAtMs: call.startMs,
          holdNano: call.outcome.holdNano,
          tokens: 0,
          funding: 'none',
          simulated: false,
          numbers: { requests: null, tokens: null },
        },
      });
    },
  };
}

function targetAt(provider: string, family: FamilyId): Target {
  const price = { id: provider, effectiveAtMs: 0, price: usd('3', '15', { image: 11_000_000n }) };
  const offer = offerAt(provider, model.slug, { families: new Set([family]), price });
  return {
    model: modelOf(model.slug, [offer]),
    offer,
    family,
    address: new URL(`https://${provider}.test/v1`),
    ...calledBy(),
    price,
    injectBudget: null,
  };
}

function goodPicture(stream: boolean): string {
  const usage = { input_tokens: 10, output_tokens: 20, total_tokens: 30 };
  if (!stream) return JSON.stringify({ created: 1, data: [{ b64_json: 'R09PRA==' }], usage });
  const event = { type: 'image_generation.completed', b64_json: 'R09PRA==', usage };
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Behind every event and at random bytes, each ended properly and torn; and, last, nothing cut. */
function cutsOf({ file, body, stream }: Exchange): readonly Cut[] {
  const places = new Set<number>();
  if (stream)
    for (const { index } of body.toString('latin1').matchAll(/(?<=\n\n|\r\n\r\n)/g)) places.add(index);
  const drawn = { seed: seed + hashOf(file), numRuns: randomCuts };
  for (const at of fc.sample(fc.nat(body.length), drawn)) places.add(at);
  const how = fc.sample(fc.record({ pieces: fc.integer({ min: 1, max: 5 }), atOnce: fc.boolean() }), {
    ...drawn,
    numRuns: 2 * places.size + 1,
  });
  const all = [...places]
    .sort((a, b) => a - b)
    .flatMap((at) => [
      { at, ends: 'properly' as const },
      { at, ends: 'torn' as const },
    ]);
  return [...all, { at: body.length, ends: 'properly' as const }].map((cut, place) => {
    const { pieces = 1, atOnce = false } = how[place] ?? {};
    return { ...cut, pieces, atOnce };
  });
}

function hashOf(text: string): number {
  let hash = 0;
  for (const letter of text) hash = (hash * 31 + letter.charCodeAt(0)) % 1_000_003;
  return hash;
}

/** Makes the call as the gateway's own steps do, with two providers that are no further than this process. */
async function play(scene: Scene, cut: Cut, providers: readonly string[]): Promise<Outcome> {
  const { body, answer } = scene.exchange;
  const asked: string[] = [];
  const goodType = {
    'content-type': scene.streamed && scene.good[0] !== '[' ? 'text/event-stream' : 'application/json',
  };
  const bad = new Provider(answer.headers, body.subarray(0, cut.at), cut);
  const good = new Provider(goodType, Buffer.from(scene.good), {
    ends: 'properly',
    pieces: 2,
    atOnce: false,
  });
  const runtime = {
    ...unconfiguredRuntime(),
    health: createHealth(),
    pools: {
      for: (origin: string) => {
        asked.push(new URL(origin).hostname);
        return origin === 'https://bad.test' ? bad : good;
      },
      fresh: () => bad,
      untrusted: () => bad,
      guarded: () => bad,
      close: async () => {},
    },
    resources: {
      find: () => null,
      keep: async () => {},
      unclaimed: async () => [],
      list: async () => ({ views: [], more: false }),
      forget: async () => {},
    },
  };
  const call = scene.call(providers);
  const parts: Buffer[] = [];
  let ended: Outcome['ended'] = null;
  const reply: Reply = {
    start: () => {},
    started: () => parts.length > 0,
    write: (bytes) => {
      parts.push(Buffer.from(bytes));
      return true;
    },
    onDrain: () => {},
    end: (bytes = '') => {
      parts.push(Buffer.from(bytes));
      ended = 'whole';
    },
    cut: () => {
      ended = 'torn';
    },
  };
  let from: Outcome['from'] = null;
  try {
    const given = await attemptTargets(runtime, call, {
      underway: () => {},
      await: () => {},
      opened: false,
    });
    const sendLastByte = await relayAnswer(runtime, call, given, reply);
    sendLastByte(reply);
    from = given.target.offer.provider.id === 'bad' ? 'bad' : 'good';
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
  return { got: Buffer.concat(parts), ended, from, asked, call };
}

/** Answers every request with the same bytes, as undici hands them over. */
class Provider extends Dispatcher {
  readonly #headers: Readonly<Record<string, string | readonly string[]>>;
  readonly #body: Buffer;
  readonly #cut: Omit<Cut, 'at'>;

  constructor(
    headers: Readonly<Record<string, string | readonly string[]>>,
    body: Buffer,
    cut: Omit<Cut, 'at'>,
  ) {
    super();
    this.#headers = headers;
    this.#body = body;
    this.#cut = cut;
  }

  override dispatch(_: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    void this.#answer(handler, new Flow());
    return true;
  }

  async #answer(handler: Dispatcher.DispatchHandler, flow: Flow): Promise<void> {
    await nextTurn();
    handler.onRequestStart?.(flow, {});
    const own = Object.entries(this.#headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : [...value],
    ]);
    handler.onResponseStart?.(flow, 200, Object.fromEntries(own), 'OK');
    const size = Math.max(1, Math.ceil(this.#body.length / this.#cut.pieces));
    for (let at = 0; at < this.#body.length; at += size) {
      if (at > 0 || !this.#cut.atOnce) await nextTurn();
      await flow.resumed;
      if (flow.aborted) return;
      handler.onResponseData?.(flow, this.#body.subarray(at, at + size));
    }
    // A connection is never closed in the turn that brought its last bytes.
    if (!this.#cut.atOnce || this.#cut.ends === 'torn') await nextTurn();
    await flow.resumed;
    if (flow.aborted) return;
    if (this.#cut.ends === 'properly') handler.onResponseEnd?.(flow, {});
    else handler.onResponseError?.(flow, new errors.SocketError('other side closed'));
  }
}

class Flow implements Dispatcher.DispatchController {
  aborted = false;
  paused = false;
  reason: Error | null = null;
  resumed: Promise<void> | null = null;
  #go: (() => void) | null = null;

  abort(reason: Error): void {
    this.aborted = true;
    this.reason = reason;
    this.resume();
  }

  pause(): void {
    if (this.paused) return;
    this.paused = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.resumed = promise;
    this.#go = resolve;
  }

  resume(): void {
    this.paused = false;
    this.#go?.();
    this.resumed = null;
  }
}

/** The promises, judged by the recorded bytes alone. */
function judge({ exchange, family, streamed, good }: Scene, cut: Cut, outcome: Outcome): void {
  const { got, ended, from, asked, call } = outcome;
  const sent = exchange.body.subarray(0, cut.at);
  const text = got.toString();
  const cost = call.outcome.charge.costNano;
  const where = `${cut.ends} at ${cut.at} of ${exchange.body.length}, ${cut.pieces} pieces, ${cut.atOnce}`;
  const seen = streamed ? eventsOf(sent.toString()) : null;
  const said = seen ? seen.some(says) : sent.length > keptBytes;
  const own = streamed ? hasOwnEnd(family.id, sent.toString()) : isJson(sent);
  const whole = cut.at === exchange.body.length && cut.ends === 'properly';

  // Never two answers joined.
  if (from === 'good') {
    expect(text, where).toBe(good);
    expect([ended, call.outcome.endReason], where).toEqual(['whole', 'completed']);
    expect(asked, where).toEqual(['bad.test', 'good.test']);
    expect(cost, where).toBeGreaterThan(0n);
  } else if (from === 'bad') {
    expect(got.subarray(0, sent.length).equals(sent.subarray(0, got.length)), `${where}: its own bytes`).toBe(
      true,
    );
    if (streamed) expect(got.length, where).toBeGreaterThanOrEqual(sent.length);
    expect(text.includes('All is well.'), where).toBe(false);
  } else expect([got.length, cost], where).toEqual([0, 0n]);

  // Never another provider after something was said.
  if (said) expect([from, asked], `${where}: it had said something`).toEqual(['bad', ['bad.test']]);

  // And always another one before that.
  const came = eventsOf(`${sent.toString()}\n\n`);
  if (streamed && from === 'bad' && call.plan.targets.length > 1 && !own && !(exchange.file in brokeOff)) {
    expect(
      came.some((event) => !isSilent(event)),
      `${where}: it had said nothing`,
    ).toBe(true);
  }

  // Never half an answer that is called whole.
  if (from === 'bad' && call.outcome.endReason === 'completed') {
    expect([own, cut.ends === 'properly' || streamed], `${where}: its own end was there`).toEqual([
      true,
      true,
    ]);
    expect(ended, where).toBe(cut.ends === 'properly' ? 'whole' : ended);
  }
  if (from === 'bad' && call.outcome.endReason !== 'completed' && !(exchange.file in brokeOff)) {
    expect(text.length > sent.length || ended === 'torn', `${where}: its client is told`).toBe(true);
  }
  if (whole) {
    const end = exchange.file in brokeOff ? 'upstream_error' : 'completed';
    if (brokeOff[exchange.file] !== 'none') {
      expect([from, call.outcome.endReason, got.equals(sent)], where).toEqual(['bad', end, true]);
    }
  }

  // Never a charge for nothing. An event without its blank line has come all the same, where its client is told.
  if (from === 'bad' && cost > 0n && !came.some((event) => !isSilent(event)) && !said) {
    expect(own || /"usage/.test(sent.toString()), `${where}: ${cost} for what it had said`).toBe(true);
  }
}

/** The data of the events that have come whole, or the elements of an array. */
function eventsOf(text: string): readonly Readonly<Record<string, unknown>>[] {
  if (text.startsWith('[')) {
    const ends = [...text.matchAll(/\}\s*(?=[,\]])/g)];
    const values = ends
      .map(({ index }) => parsed(`${text.slice(0, index + 1)}]`))
      .filter((one) => one !== null);
    const newest = values.at(-1);
    return Array.isArray(newest) ? newest.map(record) : [];
  }
  return text
    .split(/(?<=\r?\n\r?\n)/)
    .filter((event) => /\n\r?\n$/.test(event))
    .map((event) => record(parsed(event.replace(/^(?!data:).*\r?\n/gm, '').replace(/^data: ?/gm, ''))));
}

/** Whether an event only announces an answer. */
function isSilent({
  type,
  choices,
  candidates,
  item,
  content_block: block,
}: Readonly<Record<string, unknown>>): boolean {
  if (type === 'response.output_item.added') return /^(message|reasoning)$/.test(String(record(item).type));
  if (type === 'content_block_start') return /^(text|thinking)$/.test(String(record(block).type));
  if (typeof type === 'string') {
    return /^(response\.(created|queued|in_progress|content_part\.added|reasoning_summary_part\.added)|message_start|ping)$/.test(
      type,
    );
  }
  const parts = [
    ...[choices ?? []].flat().map((choice) => record(choice).delta),
    ...[candidates ?? []].flat().flatMap((one) => [record(record(one).content).parts ?? []].flat()),
  ];
  return parts.every((part) =>
    Object.entries(record(part)).every(([name, value]) => name === 'role' || value === null || value === ''),
  );
}

/** Names under which the families put a text, thinking, a call, or a picture. */
const words =
  /^(text|content|reasoning|reasoning_content|refusal|thinking|partial_json|arguments|delta|b64_json|code|transcript)$/;

function says(event: Readonly<Record<string, unknown>>): boolean {
  if (typeof event.type === 'string') {
    if (/^(response\.(created|queued|in_progress|completed|incomplete|failed)|error)$/.test(event.type))
      return false;
    if (/^(message_start|ping|content_block_start)$/.test(event.type)) return false;
  }
  const { choices, candidates, delta, type } = event;
  if (typeof type === 'string') {
    const isDelta =
      type === 'content_block_delta' || /^response\..*\.delta$/.test(type) || type.startsWith('image_');
    return isDelta && holdsWords(typeof delta === 'string' ? { delta } : (delta ?? event));
  }
  return holdsWords([choices, candidates]);
}

function holdsWords(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsWords);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([name, inner]) => (words.test(name) && typeof inner === 'string' && inner !== '') || holdsWords(inner),
  );
}

/** Whether the family's own end stands somewhere, in an event that may lack its blank line. */
function hasOwnEnd(family: string, text: string): boolean {
  if (/^data: ?\[DONE\]/m.test(text)) return true;
  const ends: Readonly<Record<string, RegExp>> = {
    chat: /"finish_reason"\s*:\s*"/,
    responses: /"type"\s*:\s*"response\.(completed|incomplete|failed|cancelled)"/,
    messages: /"type"\s*:\s*"message_stop"/,
    'generate-content': /"(finishReason|blockReason)"\s*:\s*"/,
    images: /"type"\s*:\s*"image_(generation|edit)\.completed"/,
  };
  return ends[family]?.test(text) ?? false;
}

function isJson(bytes: Buffer): boolean {
  return parsed(bytes.toString()) !== null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
