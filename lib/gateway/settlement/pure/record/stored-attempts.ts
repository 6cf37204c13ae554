import { defaultCredential } from '#lib/core/facts/pool';
import type { AttemptRecord, CallRecord } from '#lib/gateway/settlement/pure/entry';
import { jsonOf } from '#lib/gateway/settlement/pure/record/storable';

/** Where an attempt has the id of its request at the provider, in SQL: `attempt->>0`. */
export const upstreamRequestIdAt = 0;

/** Where an attempt has its credential if that is not the default one, in SQL: `attempt->>12`. */
export const credentialAt = 12;

/** What an attempt has from its call where it does not say otherwise. */
type Answered = Pick<CallRecord, 'status' | 'provider' | 'answeringModel'>;

/** The attempts of a row of `call`, in their order, from its JSON column. */
export function storedAttempts(json: unknown, call: Answered): AttemptRecord[] {
  if (!Array.isArray(json)) return [];
  return json.map((one: unknown) => storedAttempt(Array.isArray(one) ? one : [], call));
}

/** By position; what is missing at the end is as the call's own, without an error. */
function storedAttempt(values: readonly unknown[], call: Answered): AttemptRecord {
  const [upstreamRequestId, startMs, durationMs, status = call.status, error] = values;
  const [provider = call.provider, model = call.answeringModel, possibleDuplicate, code, message, to, lost] =
    values.slice(5);
  const credential = values[credentialAt];
  return {
    provider: String(provider ?? ''),
    model: String(model ?? ''),
    credential: typeof credential === 'string' ? credential : defaultCredential,
    status: typeof status === 'number' ? status : null,
    error: typeof error === 'string' ? error : null,
    startMs: Number(startMs ?? 0),
    durationMs: Number(durationMs ?? 0),
    upstreamRequestId: typeof upstreamRequestId === 'string' ? upstreamRequestId : null,
    possibleDuplicate: possibleDuplicate === true,
    providerCode: typeof code === 'string' ? code : null,
    providerMessage: typeof message === 'string' ? message : null,
    ...(typeof to === 'string'
      ? { translatedTo: to, lost: Array.isArray(lost) ? lost.map(String) : [] }
      : {}),
  };
}

/**
 * An attempt as JSON by position, for `storedAttempt`: of most calls the one that answered, of which three values differ
 * from what its call says. One whose provider said why it failed has ten, a translated one twelve, and one with another
 * credential than the default one thirteen.
 */
export function attemptJson(one: AttemptRecord, call: Answered): string {
  const { provider, model, status, error, possibleDuplicate, providerCode, providerMessage } = one;
  const { translatedTo, lost = [] } = one;
  const beginning = `[${jsonOf(one.upstreamRequestId)},${whole(one.startMs)},${whole(one.durationMs)}`;
  const isDefault = one.credential === defaultCredential;
  const silent = providerCode === null && providerMessage === null && translatedTo === undefined && isDefault;
  const answered =
    silent && possibleDuplicate === false && model === call.answeringModel && provider === call.provider;
  if (answered && error === null && status === call.status) return `${beginning}]`;
  const failed = `${beginning},${status === null ? 'null' : whole(status)},${jsonOf(error)}`;
  if (answered) return `${failed}]`;
  const named = `${failed},${jsonOf(provider)},${jsonOf(model)}`;
  if (silent) return `${named}${possibleDuplicate ? ',true' : ''}]`;
  const told = `${named},${possibleDuplicate},${jsonOf(providerCode)},${jsonOf(providerMessage)}`;
  if (translatedTo === undefined && isDefault) return `${told}]`;
  const translated = `${told},${jsonOf(translatedTo ?? null)},[${lost.map(jsonOf).join(',')}]`;
  return isDefault ? `${translated}]` : `${translated},${jsonOf(one.credential)}]`;
}

const mostInteger = 2_147_483_647;

function whole(figure: number): number {
  return Number.isFinite(figure) ? Math.min(Math.max(Math.round(figure), 0), mostInteger) : 0;
}
