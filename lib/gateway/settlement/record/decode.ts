import { readResources } from '#lib/gateway/resources/row';
import type { Entry } from '#lib/gateway/settlement/pure/entry';
import { headOf, layoutVersion, marker } from '#lib/gateway/settlement/record/encode';
import { readCallRow } from '#lib/gateway/settlement/record/read-row';
import { readFunding } from '#lib/gateway/settlement/record/words';

/** @throws Error when the payload is not one that this version made. */
export function decodeEntry(payload: Buffer): Entry {
  if (payload[0] !== marker) throw new Error('a journal record lacks its marker');
  const { head, rowAt } = headOf(payload);
  const [made, kind, callId, funding, atMs, holdNano, tokens] = arrayOf(JSON.parse(head));
  if (made !== layoutVersion)
    throw new Error(`journal record of version ${String(made)}, expected ${layoutVersion}`);
  const row = payload.subarray(rowAt);
  const id = textOf(callId);
  if (kind === 'keep') return { kind, callId: id, resources: readResources(JSON.parse(row.toString())) };
  const entry = { callId: id, call: readCallRow(row) };
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
