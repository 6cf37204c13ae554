import { isRefusal, type Refusal, refusal } from '#lib/core/errors';
import type { Ask, AskedAudio, RawAsk } from '#lib/core/families/family';
import { readFlag, readModel, readText, readTier, takeAll } from '#lib/core/families/reading/fields';
import { weigh } from '#lib/core/families/reading/weight';
import type { UploadedFile } from '#lib/core/families/scan';
import { writtenTokens } from '#lib/core/metering/estimate-audio';

const noMedia: ReadonlySet<string> = new Set();

/** Length of a byte of audio at 8 kbit/s, ms: less than any usual recording has (contract: money/audio-hold). */
const LONGEST_MS_PER_BYTE = 1;
/** Bytes that a millisecond weighs, 400 to a token: 12.5 tokens a second (contract: money/media-weight, money/audio-tokens). */
const WEIGHT_PER_MS = 5;
/** Of a file that does not say its length, by estimate: 32 kbit/s (contract: money/audio-charge). */
const BYTES_PER_MS = 4;

/** What a request for a transcript asks for: exactly one file, because that is what is paid for. */
export function readTranscriptionAsk(raw: RawAsk): Ask | Refusal {
  const { scan, operation } = raw;
  const read = takeAll({
    model: readModel(scan),
    stream: readFlag(scan, 'stream'),
    format: readText(scan, 'response_format'),
    serviceTier: readTier(scan),
    elsewhere: refuseElsewhere(raw),
    file: readFile(raw),
  });
  if (isRefusal(read)) return read;
  const { model, stream, serviceTier, file } = read;
  const audio = askedTranscript(file, scan.upload?.audioMs ?? null);
  return {
    ...raw,
    model,
    stream: stream && operation.name === 'audio.transcription',
    budget: null,
    choices: 1,
    serviceTier,
    // Whatever type a client gives its file, here it is sound, which weighs as long as it is.
    weight: {
      ...weigh(scan, noMedia, 0),
      images: 0,
      fileBytes: 0,
      audioVideoBytes: audio.ms * WEIGHT_PER_MS,
    },
    audio,
  };
}

/** Whether the answer is plain text instead of JSON. */
export function asksForText({ scan }: Pick<Ask, 'scan'>): boolean {
  const format = scan.found.get('response_format')?.value;
  return format === 'text' || format === 'srt' || format === 'vtt';
}

function askedTranscript({ bytes }: UploadedFile, fileMs: number | null): AskedAudio {
  const longest = Math.ceil(bytes * LONGEST_MS_PER_BYTE);
  const ms = fileMs ?? longest;
  const mostMs = Math.max(longest, Math.ceil(ms * 1.1));
  const heardMs = fileMs ?? Math.ceil(bytes / BYTES_PER_MS);
  return { characters: 0, ms, fileMs, heardMs, tokens: writtenTokens(ms), mostMs };
}

/**
 * Some providers take a recording from an address, or from the files of the operator's account: it would have no length
 * that could be held, and might be another workspace's.
 */
function refuseElsewhere({ scan, operation }: RawAsk): null | Refusal {
  const found = ['url', 'file_url', 'file_id'].find((name) => scan.found.has(name));
  if (found === undefined) return null;
  return refusal(
    'invalid_body',
    `Field "${found}" is not accepted here; send the audio itself as the file "${operation.listensTo}".`,
  );
}

function readFile({ scan, operation }: RawAsk): UploadedFile | Refusal {
  const files = scan.upload?.files.filter(({ field }) => field === operation.listensTo) ?? [];
  const [file] = files;
  if (file === undefined) {
    return refusal(
      'invalid_body',
      `Part "${operation.listensTo}" is missing; send the audio as a file of this name.`,
    );
  }
  if (files.length > 1) {
    return refusal('invalid_body', `The body has part "${operation.listensTo}" twice; send one file.`);
  }
  if (file.bytes > 0) return file;
  return refusal('invalid_body', `The file "${operation.listensTo}" is empty; send a file with audio.`);
}
