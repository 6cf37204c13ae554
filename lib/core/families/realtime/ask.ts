import { isRefusal, type Refusal, refusal } from '#lib/core/errors';
import { insertMember, replaceValue } from '#lib/core/families/edits';
import type { Ask, Edit, Family, RawAsk } from '#lib/core/families/family';
import { readNested } from '#lib/core/families/nested';
import { readCount, readObject, takeAll, wrongType } from '#lib/core/families/reading/fields';
import { weigh } from '#lib/core/families/reading/weight';
import type { FieldSpec, Found, Scan } from '#lib/core/families/scan';

/** A limit of output tokens: a number or "inf"; the second name is that of the first version of the API. */
const limits = { max_output_tokens: {}, max_response_output_tokens: {} } as const;
const transcription = { fields: { model: {} } } as const;

/** What is read of the events of a client (contract: realtime/read-events). */
export const realtimeFields: FieldSpec = {
  type: {},
  event_id: {},
  response_id: {},
  response: { fields: { ...limits, model: {} } },
  session: {
    fields: {
      ...limits,
      model: {},
      turn_detection: { unread: true },
      input_audio_transcription: transcription,
      audio: {
        fields: {
          input: { fields: { transcription, turn_detection: { unread: true } } },
        },
      },
    },
  },
  audio: { unread: true },
};

/** Where an event may name a model. */
const models = [
  'response.model',
  'session.model',
  'session.input_audio_transcription.model',
  'session.audio.input.transcription.model',
] as const;

const mediaKeys: ReadonlySet<string> = new Set(['audio', 'image_url', 'data']);

/** Whether the query asks for a session that only transcribes (contract: realtime/transcription). */
export function isForTranscripts({ params }: Pick<RawAsk, 'params'>): boolean {
  return params.intent === 'transcription';
}

/** What an event asks for; the model is that of the session. */
export function readRealtimeAsk(raw: RawAsk): Ask | Refusal {
  const { scan, params } = raw;
  const model = params.model ?? '';
  if (model === '') {
    const intent = isForTranscripts(raw) ? 'intent=transcription&' : '';
    return refusal('invalid_body', `The query has no "model"; connect to /v1/realtime?${intent}model=MODEL.`);
  }
  const read = takeAll({
    response: readObject(scan, 'response'),
    session: readObject(scan, 'session'),
    budget: readBudget(scan),
    nested: readNested(scan, models) ?? null,
  });
  if (isRefusal(read)) return read;
  return {
    ...raw,
    model,
    stream: true,
    budget: read.budget,
    choices: 1,
    serviceTier: null,
    weight: weigh(scan, mediaKeys, 0),
    ...(read.nested ? { nested: read.nested } : {}),
  };
}

/** The largest limit that an event names; null: none, or "inf" or null by one of the two names. */
function readBudget(scan: Scan): number | null | Refusal {
  let most: number | null = null;
  let isOpen = false;
  for (const found of limitsIn(scan)) {
    if (found.type === 'null' || found.value === 'inf') {
      isOpen = true;
      continue;
    }
    const count = readCount(found, 0);
    if (isRefusal(count)) return wrongType(found, 'a whole number or "inf"');
    most = Math.max(most ?? 0, count);
  }
  return isOpen ? null : most;
}

/** Whether an event names a limit of output tokens, if only as `null` or "inf". */
export function namesLimit(scan: Scan): boolean {
  return limitsIn(scan).length > 0;
}

/** The limits in the object of an event that a provider reads. */
function limitsIn(scan: Scan): readonly Found[] {
  const { found, nulls } = scan;
  return Object.keys(limits).flatMap((field) => {
    const path = `${objectOf(scan)}.${field}`;
    return found.get(path) ?? nulls.get(path) ?? [];
  });
}

function objectOf({ found }: Scan): 'response' | 'session' {
  return found.get('type')?.value === 'response.create' ? 'response' : 'session';
}

/** Writes the key's maximum where the event names no limit, or none that is a number. */
export const realtimeEdits: Family['edits'] = ({ scan }, _offer, injectBudget): readonly Edit[] => {
  if (injectBudget === null) return [];
  const json = String(injectBudget);
  const named = limitsIn(scan);
  if (named.length > 0) return named.map((found) => replaceValue(found, json));
  const name = objectOf(scan);
  const field = 'max_output_tokens';
  const object = scan.found.get(name);
  if (object) return [insertMember(object, field, json)];
  const empty = scan.nulls.get(name);
  const made = `{"${field}":${json}}`;
  return [empty ? replaceValue(empty, made) : insertMember(scan.root, name, made)];
};
