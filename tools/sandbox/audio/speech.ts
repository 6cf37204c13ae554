import { FRAME_MS, silence, tone, wave } from '#tools/sandbox/audio/sound';
import { textTokens } from '#tools/sandbox/content/tokens';
import { readJson } from '#tools/sandbox/content/tool-call';
import { type Dialect, type Frame, freeOfCharge, plainFrame } from '#tools/sandbox/dialect';
import { reported } from '#tools/sandbox/scenario/bend';
import { findDirective, numberParam, parseName, withoutDirective } from '#tools/sandbox/scenario/name';
import {
  errorObject,
  invalidValue,
  missingParameter,
  ProviderFault,
} from '#tools/sandbox/scenario/provider-fault';

/** A character takes as long as at 12 characters a second. */
const MS_PER_CHARACTER = 80;
const TOKENS_PER_SECOND = 20;
const MOST_CHARACTERS = 4_096;
const types = { wav: 'audio/wav', pcm: 'audio/pcm', mp3: 'audio/mpeg' } as const;

/**
 * Speech as api.openai.com answers it: a tone as long as the text would be, in a file with the text in it. As mp3, which
 * is not encoded here, it is silence of that length. A name's parameter: `ms=` of audio. Only events report usage.
 */
export const speech: Dialect = {
  id: 'speech',

  handles: (method, path) => method === 'POST' && path === '/audio/speech',

  open(seen) {
    const {
      model,
      input,
      voice,
      response_format: format = 'mp3',
      speed = 1,
      stream_format,
    } = readJson(seen.body);
    if (typeof model !== 'string') throw new ProviderFault(400, 'you must provide a model parameter');
    if (typeof input !== 'string' || input === '') throw missingParameter('input');
    if (typeof voice !== 'string') throw missingParameter('voice');
    if ([...input].length > MOST_CHARACTERS) throw invalidValue('input', 'a string over 4096 characters');
    if (!isFormat(format)) throw invalidValue('response_format', `${format}`);
    if (typeof speed !== 'number' || !(speed >= 0.25 && speed <= 4)) throw invalidValue('speed', `${speed}`);
    const streamed = stream_format === 'sse';
    const name = parseName(findDirective(input) ?? model);
    const text = withoutDirective(input);
    const usual = Math.round(([...text].length * MS_PER_CHARACTER) / speed);
    const asked = numberParam(name, 'ms', usual);
    const ms = format === 'mp3' ? Math.ceil(asked / FRAME_MS) * FRAME_MS : asked;
    return {
      model,
      stream: streamed,
      prompt: input,
      answer(base, { usage }) {
        if (streamed && base === 'narrator') throw invalidValue('stream_format', 'sse');
        const pieces = format === 'wav' ? wave(ms, text) : format === 'pcm' ? tone(ms) : silence(ms);
        const outputTokens = Math.ceil((ms * TOKENS_PER_SECOND) / 1000);
        const truth = {
          ...freeOfCharge,
          inputTokens: textTokens(input),
          outputTokens,
          characters: [...input].length,
          audioMs: ms,
        };
        if (!streamed) return { truth, content: { kind: 'flow', length: null, type: types[format], pieces } };
        const figures = reported(usage, (bend) => ({
          input_tokens: bend(truth.inputTokens),
          output_tokens: bend(outputTokens),
          total_tokens: bend(truth.inputTokens + outputTokens),
        }));
        return { truth, content: { kind: 'stream', frames: frames(pieces, figures, outputTokens) } };
      },
    };
  },

  errorBody: (fault) => JSON.stringify({ error: errorObject(fault, 'invalid_request_error') }),
  errorEvent: (fault) =>
    plainFrame(null, { type: 'error', error: errorObject(fault, 'invalid_request_error') }),
};

function isFormat(format: unknown): format is keyof typeof types {
  return typeof format === 'string' && Object.hasOwn(types, format);
}

function* frames(
  pieces: Iterable<Buffer>,
  usage: object | null | undefined,
  outputTokens: number,
): Generator<Frame> {
  let left = outputTokens;
  for (const piece of pieces) {
    const tokens = Math.min(2, left);
    left -= tokens;
    const data = JSON.stringify({ type: 'speech.audio.delta', audio: piece.toString('base64') });
    yield { name: null, data, content: true, tokens };
  }
  const reported = usage === undefined ? {} : { usage };
  const data = JSON.stringify({ type: 'speech.audio.done', ...reported });
  yield { name: null, data, content: false, tokens: left, ...reported };
}
