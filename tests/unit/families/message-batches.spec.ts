import { describe, expect, it } from 'vitest';
import { readRequest } from '#lib/core/batches/line';
import { type LineTerms, readResult } from '#lib/core/batches/result';
import { isRefusal } from '#lib/core/errors';
import {
  messageBatchJobs,
  messageBatchOperations,
  shownMessageBatch,
  withResultsHere,
} from '#lib/core/families/messages/batches';
import { madeFilesIn, shownMessageFile } from '#lib/core/families/messages/files';
import { parsePrice, readFilePrice, storePrice } from '#lib/core/schemas/price';

const price = parsePrice(
  JSON.parse(
    JSON.stringify(
      storePrice(
        readFilePrice({
          input: '1',
          output: '4',
          serviceTiers: { batch: { input: '0.5', output: '2' } },
        }),
      ),
    ),
  ),
);
const terms: LineTerms = {
  endpoint: '/v1/messages',
  price,
  model: { contextTokens: 100_000, maxOutputTokens: 10_000 },
  choices: 1,
  serverTools: false,
  heldNano: 77n,
};
const lineOf = (result: unknown) => JSON.stringify({ custom_id: 'a', result });
const usage = { input_tokens: 10, output_tokens: 3, service_tier: 'batch' };

describe('a result of a batch of messages is charged by its type (contract: batches/charge)', () => {
  it.each([
    ['succeeded', { type: 'succeeded', message: { usage } }, 11_000n, []],
    ['succeeded without usage', { type: 'succeeded', message: {} }, 77n, ['job_unreported']],
    ['succeeded without a message', { type: 'succeeded' }, 77n, ['job_unreported']],
    [
      'errored, whatever message it has',
      { type: 'errored', message: { usage }, error: { type: 'error', error: { type: 'overloaded_error' } } },
      0n,
      [],
    ],
    ['cancelled', { type: 'canceled' }, 0n, []],
    ['expired', { type: 'expired' }, 0n, []],
    ['of an unknown type', { type: 'queued', message: { usage } }, 0n, []],
    ['of no type', {}, 0n, []],
  ])('%s', (_, result, costNano, flags) => {
    expect(readResult(lineOf(result), terms)).toMatchObject({ customId: 'a', costNano, flags });
  });

  it('says why it has no answer', () => {
    const error = { type: 'error', error: { type: 'invalid_request_error', message: 'No.' } };
    expect(readResult(lineOf({ type: 'errored', error }), terms)?.errorCode).toBe('invalid_request_error');
    expect(readResult(lineOf({ type: 'expired' }), terms)?.errorCode).toBe('expired');
  });
});

describe('a batch of messages as its provider shows it', () => {
  const answer = (fields: object) => ({
    id: 'msgbatch_1',
    type: 'message_batch',
    processing_status: 'in_progress',
    cancel_initiated_at: null,
    results_url: null,
    ...fields,
  });
  const url = 'https://api.example.com/v1/messages/batches/msgbatch_1/results';

  it.each([
    ['in progress', {}, 'running'],
    ['being cancelled', { processing_status: 'canceling', cancel_initiated_at: '2026-01-01' }, 'running'],
    ['ended', { processing_status: 'ended' }, 'completed'],
    ['ended by a cancel', { processing_status: 'ended', cancel_initiated_at: '2026-01-01' }, 'cancelled'],
    ['of an unknown state', { processing_status: 7 }, 'running'],
  ])('%s', (_, fields, state) => {
    expect(messageBatchJobs.read({}, answer(fields))).toMatchObject({ state });
  });

  it('has its results at its own path, whatever address the provider gives', () => {
    const view =
      messageBatchJobs.read({}, answer({ results_url: 'https://elsewhere.example/x' }))?.view ?? null;
    expect(messageBatchJobs.results?.({ id: 'msgbatch_1' }, view)).toEqual([
      { path: '/messages/batches/msgbatch_1/results' },
    ]);
    expect(messageBatchJobs.results?.({ id: 'msgbatch_1' }, answer({}))).toEqual([]);
  });

  it('reaches clients with the address of the gateway and nothing else changed', () => {
    const text = `{ "id": "msgbatch_1",  "odd" : 1.50, "results_url": "${url}" }`;
    const here = Buffer.from(withResultsHere(Buffer.from(text))).toString();
    expect(here).toBe(text.replace(url, '/v1/messages/batches/msgbatch_1/results'));
    for (const same of ['not JSON', '{"results_url":null,"id":"a"}', '{"results_url":"x"}']) {
      expect(Buffer.from(withResultsHere(Buffer.from(same))).toString()).toBe(same);
    }
  });

  it('is shown only by the call that creates it', () => {
    const [create, list] = messageBatchOperations;
    if (!create || !list) throw new Error('they are operations');
    expect(shownMessageBatch(create, answer({}))).toEqual([{ kind: 'batch', id: 'msgbatch_1' }]);
    expect(shownMessageBatch(list, answer({}))).toEqual([]);
    expect(shownMessageBatch(create, { type: 'error', id: 'msgbatch_1' })).toEqual([]);
  });
});

it('a request of a batch is read where its params are, and refused by its place and name', () => {
  const params = '{"model":"m","max_tokens":3,"messages":[]}';
  const request = readRequest(Buffer.from(`{"params": ${params}, "custom_id":"a"}`), 4);
  if (isRefusal(request)) throw new Error(request.message);
  expect(request).toMatchObject({
    customId: 'a',
    endpoint: '/v1/messages',
    start: 11,
    end: 11 + params.length,
  });
  expect(request.ask).toMatchObject({ model: 'm', budget: 3 });
  for (const [text, message] of [
    ['[]', /^"requests\[4\]": /],
    ['{"params":{}}', /^"requests\[4\]": Field "custom_id"/],
    ['{"custom_id":"","params":{}}', /^"requests\[4\]": Field "custom_id"/],
    ['{"custom_id":"a","custom_id":"b","params":{}}', /^"requests\[4\]": /],
    ['{"custom_id":"a","params":[]}', /^"requests\[4\]" \(custom_id "a"\): Field "params"/],
    [
      '{"custom_id":"a","params":{"model":"m","stream":true}}',
      /^"requests\[4\]" \(custom_id "a"\): .*stream/,
    ],
  ] as const) {
    expect(readRequest(Buffer.from(text), 4)).toMatchObject({
      code: 'invalid_body',
      message: expect.stringMatching(message),
    });
  }
});

describe('files that answers show (contract: batches/message-files)', () => {
  it('are those of a description, without what no list shows', () => {
    const file = { id: 'file_1', type: 'file', filename: 'a', size_bytes: 3, secret: 1 };
    expect(shownMessageFile(file)).toEqual([
      { kind: 'file', id: 'file_1', view: { id: 'file_1', type: 'file', filename: 'a', size_bytes: 3 } },
    ]);
    expect(shownMessageFile({ ...file, size_bytes: 'many' })).toMatchObject([
      { view: expect.not.objectContaining({ size_bytes: expect.anything() }) },
    ]);
    expect(shownMessageFile({ type: 'error', id: 'file_1' })).toEqual([]);
  });

  it('are those that code has made', () => {
    const content = { type: 'code_execution_result', content: [{ file_id: 'file_1' }, { file_id: 7 }] };
    expect(madeFilesIn({ type: 'code_execution_tool_result', content })).toEqual([
      { kind: 'file', id: 'file_1' },
    ]);
    expect(madeFilesIn({ type: 'bash_code_execution_tool_result', content })).toHaveLength(1);
    expect(madeFilesIn({ type: 'text', content })).toEqual([]);
  });
});
