import { isRefusal, Refused } from '#lib/core/errors';
import type { TagRules } from '#lib/core/facts/tags';
import { readTags, tagFieldsOf } from '#lib/core/families/reading/tags';
import { type Scan, type ScanFault, scan, scanInSlices } from '#lib/core/families/scan';
import { FREE_BYTES } from '#lib/gateway/flow/body-budget';
import { extendCall, type FamilyCall } from '#lib/gateway/flow/call/call';
import { invalidBody } from '#lib/gateway/flow/upload/body-faults';
import { takeTurn } from '#lib/gateway/flow/upload/turns';

/**
 * Finds out whom a call is for, if its workspace has that recorded (contract: tags/choice): a second pass over the body,
 * so that calls of other workspaces do not pay for it.
 * @returns the body as it was scanned before.
 * @throws Refused `invalid_body` (contract: tags/bounds).
 */
export function tagCall(call: FamilyCall, scanned: Scan): Scan | Promise<Scan> {
  const { tagRules } = call.snapshot;
  if (!tagRules) return scanned;
  const fields = scanned.upload ? null : tagFieldsOf(call.family.id);
  if (fields === null) return tagged(call, scanned, null, tagRules);
  if (scanned.body.length <= FREE_BYTES) return tagged(call, scanned, scan(scanned.body, fields), tagRules);
  return scanInSlices(scanned.body, fields, takeTurn).then((found) => tagged(call, scanned, found, tagRules));
}

function tagged(call: FamilyCall, scanned: Scan, found: Scan | ScanFault | null, rules: TagRules): Scan {
  if (found !== null && 'fault' in found) throw invalidBody(found.fault);
  const header = call.arrival.headers['x-gateway-tags'];
  const tags = readTags({ header, scan: found, family: call.family.id }, rules);
  if (isRefusal(tags)) throw new Refused(tags);
  extendCall(call, { tags });
  return scanned;
}
