import { insertMember } from '#lib/core/families/edits';
import type { Edit } from '#lib/core/families/family';
import { type JsonObject, objectIn, parseJson, textIn } from '#lib/core/families/reading/json';
import { heardTokens } from '#lib/core/families/realtime/meter';
import type { FieldSpec, Scan } from '#lib/core/families/scan';

/** What is read of every event of a provider. */
export const providerFields: FieldSpec = {
  type: {},
  response_id: {},
  delta: { unread: true },
};

/** What of a session decides about its calls. */
export interface SessionState {
  /** The provider may start responses by itself (contract: realtime/voice-detection). */
  readonly startsByItself: boolean;
  /** Limit of output tokens of its responses; null: none. */
  readonly budget: number | null;
  readonly inputFormat: string | null;
  readonly outputFormat: string | null;
  /** As the provider names it; null: what is said is not transcribed. */
  readonly transcriptionModel: string | null;
}

/** Before the provider has said anything. */
export const newState: SessionState = {
  startsByItself: true,
  budget: null,
  inputFormat: null,
  outputFormat: null,
  transcriptionModel: null,
};

/** The state that `session.created` or `session.updated` shows, in the newer form of a session or the older one. */
export function stateIn(event: JsonObject, before: SessionState): SessionState {
  const session = objectIn(event.session);
  if (!session) return before;
  const audio = objectIn(session.audio);
  const input = objectIn(audio?.input);
  const detection = input && 'turn_detection' in input ? input.turn_detection : session.turn_detection;
  const limit = session.max_output_tokens ?? session.max_response_output_tokens;
  const transcription = objectIn(input?.transcription ?? session.input_audio_transcription);
  return {
    startsByItself:
      session.type !== 'transcription' &&
      (detection ?? null) !== null &&
      objectIn(detection)?.create_response !== false,
    budget: typeof limit === 'number' && Number.isSafeInteger(limit) && limit >= 0 ? limit : null,
    inputFormat: formatIn(input?.format ?? session.input_audio_format),
    outputFormat: formatIn(objectIn(audio?.output)?.format ?? session.output_audio_format),
    transcriptionModel: textIn(transcription?.model) ?? (transcription ? before.transcriptionModel : null),
  };
}

function formatIn(format: unknown): string | null {
  return textIn(format) ?? textIn(objectIn(format)?.type);
}

/** An event as an object; null: it is none. */
export function eventIn(message: Uint8Array): JsonObject | null {
  return objectIn(
    parseJson(Buffer.from(message.buffer, message.byteOffset, message.byteLength).toString('utf8')),
  );
}

/** Length of a value of an event, bytes of JSON without quotes; 0: it has none. */
export function lengthOf({ found }: Scan, path: string): number {
  const value = found.get(path);
  return value?.type === 'string' ? Math.max(0, value.end - value.start - 2) : 0;
}

/** Tokens that a model reads of the audio in `input_audio_buffer.append`. */
export function appendedTokens(scan: Scan, { inputFormat }: SessionState): number {
  return heardTokens(lengthOf(scan, 'audio'), inputFormat);
}

/** Gives an event an id, by which an error of the provider names it, if its client gave none. */
export function idEdits(scan: Scan, id: string): readonly Edit[] {
  if (scan.found.has('event_id')) return [];
  const empty = scan.nulls.get('event_id');
  if (empty) return [{ start: empty.start, end: empty.end, text: JSON.stringify(id) }];
  return [insertMember(scan.root, 'event_id', JSON.stringify(id))];
}

/** Whether an update lets the provider start responses. That it no longer does is known only when the provider says so. */
export function asksForDetection({ found }: Scan): boolean {
  return ['session.audio.input.turn_detection', 'session.turn_detection'].some((path) => found.has(path));
}

/**
 * Whether bytes that are not a sound event may still be one for a provider that reads less strictly: after byte order
 * marks, white space and the zeros of wider characters, they begin as an object does.
 */
export function beginsAsEvent(message: Uint8Array): boolean {
  let at = 0;
  const skip = (bytes: ReadonlySet<number>) => {
    while (at < message.length && bytes.has(message[at] ?? 0)) at += 1;
  };
  skip(beforeObject);
  if (message[at] !== 0x7b) return false;
  at += 1;
  skip(blank);
  return message[at] === 0x22 || message[at] === 0x7d;
}

const blank: ReadonlySet<number> = new Set([0x00, 0x09, 0x0a, 0x0d, 0x20]);
const beforeObject: ReadonlySet<number> = new Set([...blank, 0xef, 0xbb, 0xbf, 0xfe, 0xff]);

/** Events by which a response says something: of text, and of audio. */
export const textDeltas: ReadonlySet<string> = new Set([
  'response.output_text.delta',
  'response.text.delta',
  'response.output_audio_transcript.delta',
  'response.audio_transcript.delta',
  'response.function_call_arguments.delta',
  'response.mcp_call_arguments.delta',
]);
export const audioDeltas: ReadonlySet<string> = new Set([
  'response.output_audio.delta',
  'response.audio.delta',
]);

/** An `error` event as the Realtime API has it. */
export interface ErrorFacts {
  readonly id: string;
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param?: string | null;
  /** The event of the client that it is about; null: none, or without an id. */
  readonly eventId: string | null;
}

export function realtimeError({ id, type, code, message, param = null, eventId }: ErrorFacts): string {
  const error = { type, code, message, param, event_id: eventId };
  return JSON.stringify({ type: 'error', event_id: `event_${id}`, error });
}
