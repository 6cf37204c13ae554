import v8 from 'node:v8';
import vm from 'node:vm';
import { expect, it } from 'vitest';
import { fileOperations } from '#lib/core/families/chat/files';
import { familyOf } from '#lib/core/families/index';
import type { Scan } from '#lib/core/families/scan';
import { planUpload } from '#lib/gateway/flow/steps/read-batch-file';
import { unconfiguredRuntime } from '#lib/gateway/flow/unconfigured';
import type { SpoolRoom } from '#lib/gateway/flow/upload/spool';
import { makeProvider } from '#tests/unit/families/make';
import { plannedCall } from '#tests/unit/gateway/make-call';
import { formOf, readForm } from '#tests/unit/multipart/make';
import { askOf, catalogueOf, modelOf, offerAt, usd } from '#tests/unit/routing/make';

const MIB = 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
/** Each of 10 kB. */
const LINES = 5_000;
const filler = 'x'.repeat(10_000);
const lineOf = (index: number) =>
  `{"custom_id":"line-${String(index).padStart(6, '0')}","method":"POST","url":"/v1/chat/completions","body":{"model":"m","max_tokens":16,"messages":[{"role":"user","content":"${filler}"}]}}\n`;
const BYTES = lineOf(0).length * LINES;

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc') as () => void;
const heldBytes = () => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

/** Counts what is written, and keeps nothing. */
function countingRoom(): SpoolRoom & { bytes: number } {
  const room = {
    bytes: 0,
    open: async () => ({
      append: async (chunk: Uint8Array) => {
        room.bytes += chunk.length;
      },
      received: () => {},
      read: async function* (): AsyncGenerator<Uint8Array> {},
      remove: async () => {},
    }),
  };
  return room;
}

it('a batch file of 50 MB is read in memory that does not grow with it (contract: batches/read)', async () => {
  const [operation] = fileOperations;
  const family = familyOf('chat');
  const form = formOf('b', [
    { name: 'purpose', value: 'batch' },
    { name: 'file', value: '-', filename: 'requests.jsonl' },
  ]);
  const scan = await readForm([form], { fields: operation?.fields ?? {} });
  if (!operation || !family || typeof scan === 'string' || !scan.upload) throw new Error('it is an upload');
  const [file] = scan.upload.files;
  if (!file) throw new Error('it has a file');
  const held: number[] = [];
  async function* read(): AsyncGenerator<Uint8Array> {
    let waiting = '';
    for (let index = 0; index < LINES; index += 1) {
      waiting += lineOf(index);
      if (waiting.length < PIECE_BYTES) continue;
      yield Buffer.from(waiting);
      waiting = '';
      if (index % 500 < 7) held.push(heldBytes());
    }
    yield Buffer.from(waiting);
  }
  const long: Scan = {
    ...scan,
    upload: { ...scan.upload, bytes: BYTES, files: [{ ...file, start: 0, bytes: BYTES }], read },
  };
  const ask = { ...askOf(), operation, scan: long };
  const provider = makeProvider({
    id: 'a',
    stores: new Set(['files', 'batches']),
    families: new Map([['chat', { state: 'ready', url: new URL('https://a.test/v1') }]]),
  });
  const price = { ...usd('1', '4'), serviceTiers: { batch: usd('0.5', '2').base } };
  const offer = offerAt('a', 'm', { provider, price: { id: 'p', effectiveAtMs: 0, price } });
  const uploads = countingRoom();
  const runtime = {
    ...unconfiguredRuntime(),
    catalogue: () => catalogueOf(modelOf('m', [offer])),
    uploads,
  };
  const planned = await planUpload(runtime, plannedCall(family, ask, []));
  expect(planned.ask.batch).toMatchObject({ lines: LINES, endpoint: '/v1/chat/completions' });
  expect(uploads.bytes).toBeGreaterThan(50_000_000);
  expect(held.length).toBeGreaterThan(5);
  // What the program itself needs comes with the first lines; the second half of the file adds nothing.
  const half = held.length / 2;
  const [early, late] = [held.slice(0, half), held.slice(half)];
  expect((Math.max(...late) - Math.max(...early)) / MIB).toBeLessThan(4);
}, 60_000);
