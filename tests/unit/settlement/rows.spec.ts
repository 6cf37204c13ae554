import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callRow, openRow } from '#lib/gateway/settlement/pure/call-row';
import type { RowBytes } from '#lib/gateway/settlement/pure/record/row-writer';
import { recordOf } from '#lib/gateway/settlement/record/frame';
import { encodeEntry, readCallRow } from '#lib/gateway/settlement/record/payload';
import { piecesOf } from '#lib/gateway/settlement/record/read';
import { callOf, closeOf, newId, openOf } from '#tests/support/settlement';
import { asStored, strangeCalls } from '#tests/unit/settlement/strange-calls';

const customer = { workspaceId: newId(), keyId: newId() };
const read = ({ bytes, start, end }: RowBytes) => readCallRow(bytes.subarray(start, end));
const entriesOf = (bytes: Buffer) =>
  [...piecesOf(bytes)].map((piece) => (piece.kind === 'entry' ? piece.entry : piece.kind));

describe('the row of a call', () => {
  it('gives back every call, whatever strangers put into it', () => {
    fc.assert(
      fc.property(strangeCalls(customer), (call) => {
        expect(read(callRow(call))).toEqual(asStored(call));
      }),
      { numRuns: 2_000 },
    );
  });

  it('has the tags of its call beside it in the journal, whatever their values are', () => {
    fc.assert(
      fc.property(strangeCalls(customer), fc.array(fc.string({ unit: 'grapheme' })), (call, values) => {
        const tags = values.map((value, at) => ({ name: `tag-${at}`, value: value.toWellFormed() }));
        const entries = [closeOf({ ...call, tags }), openOf({ ...call, tags })].map((entry) =>
          entriesOf(recordOf(encodeEntry(entry))),
        );
        for (const [entry] of entries) {
          if (typeof entry !== 'object' || entry.kind === 'keep') throw new Error('it is no call');
          expect(entry.call.tags ?? []).toEqual(tags);
        }
      }),
    );
  });

  it('does not depend on the calls that were written before', () => {
    fc.assert(
      fc.property(fc.array(strangeCalls(customer), { minLength: 2, maxLength: 5 }), (calls) => {
        const alone = calls.map((call) => recordOf(encodeEntry(closeOf(call))));
        const again = calls
          .flatMap((call) => [call, call])
          .map((call) => recordOf(encodeEntry(closeOf(call))));
        expect(again).toEqual(alone.flatMap((one) => [one, one]));
      }),
    );
  });

  it('of one that was only opened holds what was known then', () => {
    fc.assert(
      fc.property(strangeCalls(customer), (call) => {
        const open = openOf(call).call;
        expect(read(openRow(open))).toEqual(asStored({ ...open, firstByteMs: null }));
      }),
    );
  });

  it.each([
    ['a key id that is none', { keyId: 'not-a-key' }],
    ['a key id with one wrong digit', { keyId: '019a9000-0000-7000-8000-00000000000g' }],
    ['a key id without its dashes', { keyId: '019a9000x0000-7000-8000-000000000000' }],
    ['a key id with other characters', { keyId: '019a9000-0000-7000-8000-0000000000\u0130\u0131' }],
    ['no moment', { atMs: Number.NaN }],
    ['an amount beyond the column', { costNano: 2n ** 63n }],
    ['an amount far below 0', { costNano: -(2n ** 70n) }],
  ])('keeps %s, for the database to refuse', (_, given) => {
    expect(read(callRow(callOf(customer, given)))).toMatchObject(given);
  });

  it('holds figures that are none as 0, and those beyond a column as the most that it takes', () => {
    const given = {
      latencyMs: Number.NaN,
      firstByteMs: 1e12,
      overheadMs: Number.POSITIVE_INFINITY,
      status: -5,
    };
    const kept = { latencyMs: 0, firstByteMs: 2_147_483_647, overheadMs: 0, status: 0 };
    expect(read(callRow(callOf(customer, given)))).toMatchObject(kept);
  });

  it('is never taken for a record by a search for the next one, whatever its strings say', () => {
    const inner = recordOf(encodeEntry(closeOf(callOf(customer))));
    const before = Buffer.from(inner);
    // As text a record has other bytes; the closest is one whose bytes all are characters of one byte.
    const userAgent = inner.toString('latin1');
    const outer = recordOf(encodeEntry(closeOf(callOf(customer, { userAgent }))));
    outer[outer.length - 1] = (outer.at(-1) ?? 0) ^ 1;
    const found = entriesOf(Buffer.concat([outer, before]));
    expect(found).toEqual(['damaged', expect.objectContaining({ kind: 'close' })]);
  });
});

describe('a journal as layout 3 wrote it (contract: durability/journal)', () => {
  it('is read as what it was', () => {
    const file = new URL('../../gateway/settlement/journal-layout-3.base64', import.meta.url);
    const bytes = Buffer.from(readFileSync(file, 'utf8'), 'base64');
    const entries = [...piecesOf(bytes)].map((piece) => (piece.kind === 'entry' ? piece.entry : null));
    expect(entries.map((entry) => entry?.kind)).toEqual([
      'open',
      'open',
      'checkpoint',
      'close',
      'refused',
      'keep',
    ]);
    expect(entries[0]).toMatchObject({ funding: 'lease', holdNano: 1_000_000n, tokens: 50 });
    expect(entries[3]).toMatchObject({
      callId: '019a9000-0000-7000-8000-000000000021',
      call: {
        atMs: Date.UTC(2026, 10, 18, 10),
        clientRequestId: 'mine',
        streamed: true,
        userAgent: 'Zoë "1" \ufffd',
        flags: ['usage_anomaly'],
        usage: { input: 20, cachedInput: 7, output: 3 },
        lines: [{ class: 'input', quantity: 20, unitPriceNano: 1_000_000n }],
        costNano: 20n,
        attempts: [
          { provider: 'one', status: null, error: 'first_byte_timeout', possibleDuplicate: true },
          { provider: 'openai', status: 200, error: null, upstreamRequestId: 'req_1', durationMs: 110 },
        ],
      },
    });
    expect(entries[4]).toMatchObject({ call: { status: 402, errorCode: 'insufficient_balance' } });
    expect(entries[5]).toMatchObject({ resources: [{ id: 'resp_é' }] });
  });
});
