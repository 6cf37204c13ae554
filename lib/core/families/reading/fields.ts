import { isRefusal, type Refusal, refusal } from '#lib/core/errors';
import type { Found, Scan } from '#lib/core/families/scan';
import { batchTier, tierOf } from '#lib/core/metering/service-tier';

/**
 * Guarded values by type. Each gives `absent` for a field that is missing or null and a refusal, `invalid_body`, for
 * one of another type; the message names the field and its byte (contract: body/null-and-numbers).
 */

/** The model's slug: the one field that no request may lack. */
export function readModel(scan: Scan): string | Refusal {
  const found = scan.found.get('model');
  if (found === undefined) {
    return refusal('invalid_body', 'Field "model" is missing; set it to a model that GET /v1/models lists.');
  }
  return readSlug(found);
}

/** The slug in a value of the body: of the model or of a nested model. */
export function readSlug(found: Found): string | Refusal {
  return typeof found.value === 'string' ? found.value : wrongType(found, 'a string');
}

export function readText(scan: Scan, path: string): string | null | Refusal {
  const found = scan.found.get(path);
  if (found === undefined) return null;
  return typeof found.value === 'string' ? found.value : wrongType(found, 'a string');
}

/**
 * The service tier and the speed that a request asks for: some providers take the field of another family.
 * @param more further places that name what costs more.
 * @returns as `tierOf` names them together, or the standard name that was written.
 */
export function readTier(scan: Scan, more: readonly (Found | undefined)[] = []): string | null | Refusal {
  const serviceTier = readText(scan, 'service_tier');
  if (isRefusal(serviceTier)) return serviceTier;
  const asked = [scan.found.get('speed'), ...more].map((found) =>
    typeof found?.value === 'string' ? found.value : null,
  );
  const tier = tierOf(...asked, serviceTier);
  if (tier?.split('+').includes(batchTier)) {
    return refusal(
      'invalid_body',
      'The service tier "batch" is for the requests of a batch only; send them as a file to POST /v1/batches, or leave the tier out.',
    );
  }
  return tier ?? serviceTier;
}

export function readFlag(scan: Scan, path: string): boolean | Refusal {
  const found = scan.found.get(path);
  if (found === undefined) return false;
  return typeof found.value === 'boolean' ? found.value : wrongType(found, 'true or false');
}

/** @param least the smallest value that is allowed: 0 for a budget, 1 for a count. */
export function readWhole(scan: Scan, path: string, least: 0 | 1): number | null | Refusal {
  const found = scan.found.get(path);
  return found === undefined ? null : readCount(found, least);
}

/** The same for a value in an array. */
export function readCount(found: Found, least: 0 | 1): number | Refusal {
  const { value } = found;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value + 0;
  return wrongType(found, least === 0 ? 'a whole number, 0 or more' : 'a whole number, 1 or more');
}

/** An object whose members the gateway reads. @returns null when it is absent. */
export function readObject(scan: Scan, path: string): Found | null | Refusal {
  const found = scan.found.get(path);
  if (found === undefined) return null;
  return found.type === 'object' ? found : wrongType(found, 'an object');
}

/** 400 for a field of the wrong type. @param expected as in "must be a string". */
export function wrongType({ path, start }: Pick<Found, 'path' | 'start'>, expected: string): Refusal {
  return refusal('invalid_body', `Field "${path}" (byte ${start}) must be ${expected}.`);
}

/** Fields that were read, none of them a refusal. */
type AllRead<Read> = { readonly [Name in keyof Read]: Exclude<Read[Name], Refusal> };

/**
 * Takes several fields that were read one after the other.
 * @returns the first refusal among them, in the order in which they are written; else all values.
 */
export function takeAll<Read extends Readonly<Record<string, unknown>>>(read: Read): AllRead<Read> | Refusal {
  return Object.values(read).find(isRefusal) ?? (read as AllRead<Read>);
}
