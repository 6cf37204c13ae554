import { expect, test } from 'vitest';
import { type LogPage, logFile } from '#lib/console/log/file';
import { logCsvHead, logCsvLine } from '#lib/console/log/lines';
import type { CallDetail } from '#lib/control/operations/call/detail';
import { noUsage } from '#lib/core/metering/usage';

const rest = async () => {};

function call(id: string, changed: Partial<CallDetail> = {}): CallDetail {
  return {
    id,
    clientRequestId: null,
    at: '2026-11-22T18:20:00.000Z',
    settledAt: '2026-11-22T18:20:01.000Z',
    workspace: 'acme',
    key: 'k',
    keyName: 'web',
    playground: false,
    family: 'chat',
    operation: 'chat.create',
    requestedModel: 'a/b',
    answeringModel: 'a/b',
    provider: 'one',
    status: 200,
    errorCode: null,
    streamed: false,
    latencyMs: 12,
    firstByteMs: 9,
    overheadMs: 0.5,
    endReason: 'completed',
    usageSource: 'reported',
    cost: '0.5',
    overHold: '0',
    flags: [],
    priceVersion: null,
    priceSince: null,
    userAgent: null,
    contentUntil: null,
    feedback: null,
    endUser: null,
    tags: {},
    usage: { ...noUsage, input: 10 },
    lines: [],
    attempts: [],
    job: null,
    adjustment: null,
    ...changed,
  };
}

const pages: Readonly<Record<string, LogPage>> = {
  a: { data: [], next: 'b' },
  b: { data: [call('3')], next: 'c' },
  c: { data: [call('4')], next: null },
};
const first: LogPage = { data: [call('1'), call('2')], next: 'a' };
const idsIn = (text: string) =>
  text
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(',')[2]);

test('a line has the time of the workspace with its offset and in UTC, and as many cells as the head', () => {
  const line = logCsvLine(call('1'), 'Asia/Kathmandu');
  expect(line).toMatch(/^2026-11-23T00:05:00\+05:45,2026-11-22T18:20:00\.000Z,1,/);
  expect(line.split(',')).toHaveLength(logCsvHead.split(',').length);
});

test('what a stranger wrote is a text to a spreadsheet, never a formula', () => {
  const line = logCsvLine(call('1', { requestedModel: '=cmd|" /C calc"!A0', keyName: '+1,2' }), 'UTC');
  expect(line).toContain(`"'=cmd|"" /C calc""!A0"`);
  expect(line).toContain(`"'+1,2"`);
});

test('a file holds the calls of all pages, those behind empty pages too (contract: call-log/export)', async () => {
  const file = logFile(first, 'UTC', async (after) => pages[after] ?? first, rest);
  const text = await new Response(file).text();
  expect(text.startsWith(logCsvHead)).toBe(true);
  expect(idsIn(text)).toEqual(['1', '2', '3', '4']);
});

test('a search that finds nothing is a file with its head alone', async () => {
  const file = logFile({ data: [], next: null }, 'UTC', async () => first, rest);
  expect(await new Response(file).text()).toBe(logCsvHead);
});

test('pages are read as fast as the file is taken, and no more once nobody takes it', async () => {
  const asked: string[] = [];
  const endless = async (after: string) => {
    asked.push(after);
    return { data: [call(after)], next: `${asked.length}` };
  };
  const reader = logFile(first, 'UTC', endless, rest).getReader();
  await reader.read();
  await reader.read();
  const sofar = asked.length;
  expect(sofar).toBeLessThanOrEqual(4);
  await reader.cancel();
  expect(asked.length).toBeLessThanOrEqual(sofar + 1);
});

test('a file breaks off where its pages can be read no further', async () => {
  const file = logFile(first, 'UTC', () => Promise.reject(new Error('away')), rest);
  await expect(new Response(file).text()).rejects.toThrow('away');
});
