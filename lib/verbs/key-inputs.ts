import { z } from 'zod';
import { formatUsd } from '#lib/money';
import { cap, limit, modelScope, moment, name } from '#lib/verbs/inputs';

/** What may be set of a key, all optional; null or "none" removes (decisions §8). */
const keySettings = {
  models: modelScope.optional(),
  maxOutputTokens: limit.optional(),
  dailyCap: cap.optional(),
  d7Cap: cap.optional(),
  d30Cap: cap.optional(),
  quota: cap.optional(),
  rpm: limit.optional(),
  tpm: limit.optional(),
  concurrency: limit.optional(),
  expiresAt: moment.optional(),
};

/** Names a key; `workspaceId` confines it to the workspace where the caller is a member. */
export const keyScope = { id: z.string(), workspaceId: z.uuid().optional() };

export const createKeySchema = z.strictObject({ workspace: z.string(), name, ...keySettings });
export const setKeySchema = z.strictObject({ ...keyScope, name: name.optional(), ...keySettings });
const settingsSchema = z.object(keySettings);
export type KeySettings = z.output<typeof settingsSchema>;

/** The columns that settings write; what is undefined is left alone. */
export function columnsOf(settings: KeySettings) {
  const { models, dailyCap, d7Cap, d30Cap, quota, ...rest } = settings;
  return {
    ...given('maxOutputTokens', rest.maxOutputTokens),
    ...given('rpm', rest.rpm),
    ...given('tpm', rest.tpm),
    ...given('concurrency', rest.concurrency),
    ...given('expiresAt', rest.expiresAt),
    ...given('dailyCapNano', dailyCap),
    ...given('d7CapNano', d7Cap),
    ...given('d30CapNano', d30Cap),
    ...given('quotaNano', quota),
    ...(models === undefined ? {} : { allModels: models === null, models: models ?? [] }),
  };
}

/** Settings for the audit row: dollars instead of nano-dollars. */
export function shownSettings(
  settings: KeySettings & { name?: string | undefined },
): Record<string, unknown> {
  const entries = Object.entries(settings).map(([field, value]) => [
    field,
    typeof value === 'bigint' ? formatUsd(value) : value,
  ]);
  return Object.fromEntries(entries);
}

function given<N extends string, V>(field: N, value: V | undefined): { [K in N]?: V } {
  return value === undefined ? {} : ({ [field]: value } as { [K in N]: V });
}
