import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAllowedHead } from '#tests/gateway/contract/answer';
import { chargeNano, model, offerRecordings } from '#tests/gateway/contract/recorded/catalogue';
import * as exceptions from '#tests/gateway/contract/recorded/exceptions';
import { meantBy, withoutUsageEvent } from '#tests/gateway/contract/recorded/meant';
import { type ReplayProvider, startReplayProvider } from '#tests/gateway/contract/recorded/provider';
import { type Question, questionOf } from '#tests/gateway/contract/recorded/question';
import { asJson, type Exchange, indexLines, readExchanges } from '#tests/gateway/contract/recorded/recording';
import { credentialOf } from '#tests/gateway/contract/speaker';
import { costOf, expectBalancedBooks, linesOf } from '#tests/support/books';
import { bearer, jsonOf } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { faultsIn } from '#tests/support/shared/faults';
import { type OwnStack, startStack } from '#tests/support/stack';
import { headerOf, requestText, talk, type Wire } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';

const exchanges = readExchanges();
const { answeredHere, jobs } = exceptions;
const ofJobs: readonly string[] = [jobs.create, jobs.predict, ...jobs.reads];
const relayed = exchanges.filter(({ file }) => !answeredHere.has(file) && !ofJobs.includes(file));
const named = (some: readonly Exchange[]) => some.map((one) => [one.file, one] as const);

/** Asked for by the test itself, and by the gateway when it polls: how the recorded jobs end. */
const finished = 'recorded/finished';
const failure = { done: true, error: { code: 13, message: 'The video could not be made.' } };

// The recordings stand beside the project and are no part of it.
if (exchanges.length === 0)
  it.skip('recorded traffic is not replayed: ../shared/fixtures is not here', () => {});

describe.skipIf(exchanges.length === 0)('recorded traffic', () => {
  let stack: OwnStack;
  let provider: ReplayProvider;
  let key: string;
  beforeAll(async () => {
    const answers = new Map(exchanges.map(({ mark, answer }) => [mark, answer]));
    const [done] = [record(JSON.parse(String(recorded(jobs.list).body))).data].flat();
    const prediction = String(record(JSON.parse(String(recorded(jobs.predict).body))).name).split('/');
    provider = await startReplayProvider((mark, target) => {
      if (target.endsWith(`/operations/${prediction.at(-1)}`)) return asJson(200, failure);
      return answers.get(mark) ?? (target.startsWith('/videos/') ? asJson(200, done) : null);
    });
    stack = await startStack();
    await offerRecordings(stack, provider.url);
    const { slug } = await stack.workspace({ credit: '5000', rpm: 10_000, tpm: null });
    key = (await stack.key(slug)).key;
  });
  afterAll(async () => {
    await expectBalancedBooks(stack).finally(() => Promise.all([stack.close(), provider.close()]));
    // One answer creates what cannot be followed, which operators are told.
    expect(faultsIn(stack.log())).toEqual([
      expect.stringContaining('the answer of the provider has no job id'),
    ]);
  });

  function recorded(file: string): Exchange {
    const found = exchanges.find((one) => one.file === file);
    if (!found) throw new Error(`${file} is not in the index`);
    return found;
  }

  async function send(method: string, target: string, headers: Record<string, string>, body = '') {
    const { answers } = await talk(stack.url, requestText(method, target, headers, body));
    const [answer] = answers;
    if (!answer) throw new Error(`${target} got no answer`);
    return answer;
  }

  const ask = (question: Question) =>
    send('POST', question.target, { ...question.headers, ...credentialOf(question, key) }, question.body);
  const callOf = (answer: Wire) => stack.call(headerOf(answer, 'x-request-id') ?? '');

  function expectRelayed(answer: Wire, { answer: { status, headers, body } }: Exchange, due = body): void {
    expect([answer.status, answer.body.toString()]).toEqual([status, due.toString()]);
    expect(answer.body.equals(due), 'every byte').toBe(true);
    expect(answer.whole, 'the framing ends as announced').toBe(true);
    expectAllowedHead(answer, stack.sandbox.key);
    expect(headerOf(answer, 'content-type')).toBe(headers['content-type']);
    expect(headerOf(answer, 'x-attempts')).toBe('1');
  }

  /** @param less the client does not ask for usage: the event that only tells it is not for him. */
  async function check(exchange: Exchange, less: boolean): Promise<void> {
    const question = questionOf(exchange, less);
    const before = provider.seen(exchange.mark).length;
    const answer = await ask(question);
    expectRelayed(answer, exchange, less ? withoutUsageEvent(exchange.body) : exchange.body);

    const [seen, ...more] = provider.seen(exchange.mark).slice(before);
    expect(more).toEqual([]);
    expect([seen?.method, seen?.target]).toEqual(['POST', question.upstreamTarget]);
    const sent = JSON.stringify(seen?.headers);
    expect([sent.includes(key), sent.includes(stack.sandbox.key)], 'whose credential').toEqual([false, true]);
    if (!less) expect(seen?.body).toBe(question.received);
    else expect(JSON.parse(seen?.body ?? '')).toMatchObject({ stream_options: { include_usage: true } });

    const meant = meantBy(exchange, question);
    const owed = chargeNano(meant.charged, exchange.service_tier);
    const call = await callOf(answer);
    expect(call).toMatchObject({
      family: question.family,
      operation: question.operation,
      requestedModel: model.slug,
      answeringModel: model.slug,
      status: exchange.answer.status,
      errorCode: null,
      endReason: meant.end,
      usageSource: meant.source,
      usage: meant.usage,
      attempts: [{ provider: 'recorded', status: exchange.answer.status }],
    });
    expect(costOf(call)).toBe(owed);
    expect(await linesOf(stack, call.id)).toEqual(owed === 0n ? [] : [-owed]);
  }

  describe.concurrent('passes byte for byte and is metered as the index states', () => {
    it.each(named(relayed))('%s', (_file, exchange) => check(exchange, false));
  });

  describe.concurrent('loses only the event that tells usage, and only to those who did not ask', () => {
    const streams = relayed.filter(({ family, stream }) => family.startsWith('chat') && stream);
    it.each(named(streams))('%s', (_file, exchange) => check(exchange, true));
  });

  it('creates, shows and finishes a video, charged by its length', async () => {
    const create = recorded(jobs.create);
    const created = await ask(questionOf(create));
    expectRelayed(created, create);
    const { id } = jsonOf(created);
    for (const read of jobs.reads.map(recorded)) {
      const shown = await send('GET', `/v1/videos/${id}`, { 'user-agent': read.mark, ...bearer(key) });
      expectRelayed(shown, read);
      expect(provider.seen(read.mark)).toMatchObject([{ method: 'GET', target: `/videos/${id}` }]);
      const call = await callOf(shown);
      expect(call).toMatchObject({
        operation: 'videos.retrieve',
        status: 202,
        cost: '0',
        usageSource: 'none',
      });
    }
    await send('GET', `/v1/videos/${id}`, { 'user-agent': finished, ...bearer(key) });
    await eventually(async () => (await callOf(created)).usage.videoSeconds, 8);
    expect(await callOf(created)).toMatchObject({ usageSource: 'reported', job: { state: 'completed' } });
    expect(costOf(await callOf(created))).toBe(800_000_000n);

    const asked = provider.seen('recorded/list').length;
    const list = await send('GET', '/v1/videos', { 'user-agent': 'recorded/list', ...bearer(key) });
    expect(jsonOf(list)).toMatchObject(record(JSON.parse(String(recorded(jobs.list).body))));
    expect(provider.seen('recorded/list').length, 'it is the gateway’s own answer').toBe(asked);
  });

  it('begins a prediction that fails and costs nothing', async () => {
    const predict = recorded(jobs.predict);
    const begun = await ask(questionOf(predict));
    expectRelayed(begun, predict);
    const shown = await send('GET', `/v1beta/${jsonOf(begun).name}`, { 'x-goog-api-key': key });
    expect(jsonOf(shown)).toEqual(failure);
    await eventually(async () => (await callOf(begun)).job?.state, 'failed');
    expect(await callOf(begun)).toMatchObject({ cost: '0', usageSource: 'none' });
  });

  it('is all that the index has, and every exception is one of its files', () => {
    expect(relayed.length + ofJobs.length + answeredHere.size).toBe(indexLines());
    const files = Object.values(exceptions).flatMap((some) => {
      if (typeof some === 'string') return [some];
      return some instanceof Set ? [...some] : Object.keys(some).filter((name) => name.includes('/'));
    });
    for (const file of [...files, ...ofJobs]) expect(recorded(file).file).toBe(file);
  });
});
