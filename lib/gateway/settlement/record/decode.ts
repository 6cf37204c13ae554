import { readResources } from '#lib/gateway/resources/row';
import type { Entry } from '#lib/gateway/settlement/pure/entry';
import { headOf, layoutVersion, marker } from '#lib/gateway/settlement/record/encode';
import * as before from '#lib/gateway/settlement/record/layout-2';
import { readCallRow } from '#lib/gateway/settlement/record/read-row';
import { readFunding } from '#lib/gateway/settlement/record/words';

/** @throws Error when the payload is not one that this version or the one before made. */
export function decodeEntry(payload: Buffer): Entry {
  if (payload[0] !== marker) {
    const fields = arrayOf(JSON.parse(payload.toString()));
    const row = fields.at(-1);
    return entryOf(
      fields,
      2,
      () => before.readCall(row),
      () => row,
    );
  }
  const { head, rowAt } = headOf(payload);
  const row = payload.subarray(rowAt);
  return entryOf(
    arrayOf(JSON.parse(head)),
    layoutVersion,
    () => readCallRow(row),
    () => JSON.parse(row.toString()),
  );
}

/** @param head the elements that stand before the row. */
function entryOf(
  [made, kind, callId, funding, atMs, holdNano, tokens]: readonly unknown[],
  version: number,
  readCall: () => Extract<Entry, { call: unknown }>['call'],
  readRows: () => unknown,
): Entry {
  if (made !== version) throw new Error(`journal record of version ${String(made)}, expected ${version}`);
  const id = textOf(callId);
  if (kind === 'keep') return { kind, callId: id, resources: readResources(readRows()) };
  const entry = { callId: id, call: readCall() };
  switch (kind) {
    case 'open':
      return {
        kind,
        ...entry,
        funding: readFunding(funding),
        atMs: Number(atMs),
        holdNano: BigInt(textOf(holdNano)),
        tokens: Number(tokens),
      };
    case 'close':
      return { kind, ...entry, funding: readFunding(funding) };
    case 'checkpoint':
    case 'refused':
      return { kind, ...entry };
    default:
      throw new Error(`unknown journal record "${String(kind)}"`);
  }
}

function arrayOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('a journal record lacks a list');
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new Error('a journal record lacks a text');
  return value;
}
