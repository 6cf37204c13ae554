import { isRefusal, type Refusal, refusal } from '#lib/core/errors';
import type { Ask, AskedAudio, RawAsk } from '#lib/core/families/family';
import { readModel, readText, readTier, takeAll, wrongType } from '#lib/core/families/reading/fields';
import { weigh } from '#lib/core/families/reading/weight';
import type { Scan } from '#lib/core/families/scan';
import { speechTokens } from '#lib/core/metering/estimate-audio';

const noMedia: ReadonlySet<string> = new Set();

/** Speech of a byte of text at the usual speed, ms: more than any voice takes (contract: money/audio-hold). */
const MS_PER_BYTE = 100;
/** The slowest and the fastest that providers speak. */
const speeds = { least: 0.25, most: 4 } as const;

/** What a request for speech asks for. */
export function readSpeechAsk(raw: RawAsk): Ask | Refusal {
  const { scan } = raw;
  const read = takeAll({
    model: readModel(scan),
    input: readInput(scan),
    speed: readSpeed(scan),
    format: readText(scan, 'response_format'),
    streamed: readText(scan, 'stream_format'),
    serviceTier: readTier(scan),
  });
  if (isRefusal(read)) return read;
  const { model, input, speed, streamed, serviceTier } = read;
  return {
    ...raw,
    model,
    stream: streamed === 'sse',
    budget: null,
    choices: 1,
    serviceTier,
    weight: weigh(scan, noMedia, 0),
    audio: askedSpeech(input, speed),
  };
}

function askedSpeech(input: string, speed: number): AskedAudio {
  const ms = Math.ceil((Buffer.byteLength(input) * MS_PER_BYTE) / speed);
  // Only what has come is counted.
  const mostMs = Number.MAX_SAFE_INTEGER;
  const characters = countCharacters(input);
  return { characters, ms, fileMs: null, heardMs: 0, tokens: speechTokens(ms), mostMs };
}

/** The text to be spoken: without it, there would be nothing to hold money for. */
function readInput(scan: Scan): string | Refusal {
  const input = readText(scan, 'input');
  if (input !== null) return input;
  return refusal('invalid_body', 'Field "input" is missing; set it to the text to be spoken.');
}

function readSpeed(scan: Scan): number | Refusal {
  const found = scan.found.get('speed');
  if (found === undefined) return 1;
  if (typeof found.value !== 'number') return wrongType(found, 'a number');
  return Math.min(speeds.most, Math.max(speeds.least, found.value));
}

/** Unicode characters, as providers count them (contract: money/characters). */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
