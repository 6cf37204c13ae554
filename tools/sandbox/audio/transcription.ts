import { hear } from '#tools/sandbox/audio/sound';
import { textTokens } from '#tools/sandbox/content/tokens';
import {
  type Answer,
  type Dialect,
  type Frame,
  freeOfCharge,
  plainFrame,
  type Truth,
  whole,
} from '#tools/sandbox/dialect';
import type { UsageFigures } from '#tools/sandbox/scenario/behaviour';
import { reported } from '#tools/sandbox/scenario/bend';
import {
  errorObject,
  invalidValue,
  missingParameter,
  ProviderFault,
} from '#tools/sandbox/scenario/provider-fault';
import { readForm } from '#tools/sandbox/wire/read-form';

const AUDIO_TOKENS_PER_SECOND = 10;
const formats = new Set(['json', 'text', 'srt', 'vtt', 'verbose_json', 'diarized_json']);

/** A transcript of one recording. */
interface Transcript {
  readonly text: string;
  readonly ms: number;
  readonly task: string;
  readonly format: string;
  readonly prompt: string;
  /** Reports the seconds that it heard, and has no streams; others report tokens. */
  readonly bySecond: boolean;
}

/**
 * Transcripts and translations as api.openai.com answers them: the text that the simulated provider put into its own
 * speech, otherwise how long the recording is. The model `scribe` reports seconds, all others tokens.
 */
export const transcription: Dialect = {
  id: 'transcriptions',

  handles: (method, path) => method === 'POST' && /^\/audio\/(transcriptions|translations)$/.test(path),

  open(seen) {
    const form = readForm(seen);
    if (form === null) throw new ProviderFault(400, 'Could not parse multipart form.');
    const { texts, files } = form;
    const model = texts.get('model');
    if (model === undefined) throw new ProviderFault(400, 'you must provide a model parameter');
    const file = files.find(({ name }) => name === 'file');
    if (!file) throw missingParameter('file');
    const heard = hear(file.bytes);
    if (heard === null) throw new ProviderFault(400, 'Invalid file format.', null, 'file');
    const format = texts.get('response_format') ?? 'json';
    if (!formats.has(format)) throw invalidValue('response_format', format);
    const translates = seen.path.endsWith('translations');
    const prompt = texts.get('prompt') ?? '';
    const said = heard.text ?? `A recording of ${heard.ms / 1000} seconds.`;
    const stream = texts.get('stream') === 'true' && !translates;
    return {
      model,
      stream,
      prompt: prompt === '' ? said : prompt,
      answer(base, { usage }) {
        const made: Transcript = {
          text: translates ? `In English: ${said}` : said,
          ms: heard.ms,
          task: translates ? 'translate' : 'transcribe',
          format,
          prompt,
          bySecond: base === 'scribe',
        };
        return stream && !made.bySecond ? streamedAnswer(made, usage) : wholeAnswer(made, usage);
      },
    };
  },

  errorBody: (fault) => JSON.stringify({ error: errorObject(fault, 'invalid_request_error') }),
  errorEvent: (fault) =>
    plainFrame(null, { type: 'error', error: errorObject(fault, 'invalid_request_error') }),
};

function truthOf({ text, ms, prompt, bySecond }: Transcript): Truth {
  if (bySecond) return { ...freeOfCharge, audioMs: ms };
  return {
    ...freeOfCharge,
    audioMs: ms,
    inputTokens: audioTokens(ms) + textTokens(prompt),
    outputTokens: textTokens(text),
  };
}

function audioTokens(ms: number): number {
  return Math.ceil((ms * AUDIO_TOKENS_PER_SECOND) / 1000);
}

function usageOf(made: Transcript, figures: UsageFigures): object | null | undefined {
  const { inputTokens, outputTokens } = truthOf(made);
  if (made.bySecond) {
    return reported(figures, (bend) => ({ type: 'duration', seconds: bend(made.ms / 1000) }));
  }
  return reported(figures, (bend) => ({
    type: 'tokens',
    input_tokens: bend(inputTokens),
    input_token_details: {
      text_tokens: bend(textTokens(made.prompt)),
      audio_tokens: bend(audioTokens(made.ms)),
    },
    output_tokens: bend(outputTokens),
    total_tokens: bend(inputTokens + outputTokens),
  }));
}

function wholeAnswer(made: Transcript, figures: UsageFigures): Answer {
  const truth = truthOf(made);
  const plain = plainOf(made);
  if (plain !== null) {
    return {
      truth,
      content: { kind: 'bytes', bytes: Buffer.from(plain), type: 'text/plain; charset=utf-8' },
    };
  }
  const usage = usageOf(made, figures);
  const reported = usage === undefined ? {} : { usage };
  const { text, ms, task, format } = made;
  const seconds = ms / 1000;
  if (format === 'json') return whole({ text, ...reported }, usage, truth);
  const segment = { id: 0, start: 0, end: seconds, text };
  const segments = [
    format === 'diarized_json' ? { ...segment, type: 'transcript.text.segment', speaker: 'A' } : segment,
  ];
  return whole({ task, language: 'english', duration: seconds, text, segments, ...reported }, usage, truth);
}

function plainOf({ text, ms, format }: Transcript): string | null {
  const end = (mark: string) => new Date(ms).toISOString().slice(11, 23).replace('.', mark);
  if (format === 'text') return `${text}\n`;
  if (format === 'srt') return `1\n00:00:00,000 --> ${end(',')}\n${text}\n\n`;
  return format === 'vtt' ? `WEBVTT\n\n00:00:00.000 --> ${end('.')}\n${text}\n\n` : null;
}

function streamedAnswer(made: Transcript, figures: UsageFigures): Answer {
  return { truth: truthOf(made), content: { kind: 'stream', frames: frames(made, usageOf(made, figures)) } };
}

function* frames({ text, ms, format }: Transcript, usage: object | null | undefined): Generator<Frame> {
  for (const delta of text.match(/\s*\S+\s*$|\s*\S+/g) ?? []) {
    yield {
      name: null,
      data: JSON.stringify({ type: 'transcript.text.delta', delta }),
      content: true,
      tokens: 1,
    };
  }
  if (format === 'diarized_json') {
    const segment = { id: 'seg_1', start: 0, end: ms / 1000, speaker: 'A', text };
    yield plainFrame(null, { type: 'transcript.text.segment', ...segment });
  }
  const reported = usage === undefined ? {} : { usage };
  const data = JSON.stringify({ type: 'transcript.text.done', text, ...reported });
  yield { name: null, data, content: false, tokens: 0, ...reported };
}
