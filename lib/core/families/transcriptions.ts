import { modelEdits } from '#lib/core/families/edits';
import { type Family, type Operation, ownPath } from '#lib/core/families/family';
import { faultReader } from '#lib/core/families/reading/fault';
import { asksForText, readTranscriptionAsk } from '#lib/core/families/transcriptions/ask';
import { TranscriptionStream } from '#lib/core/families/transcriptions/stream';
import { Transcript, transcriptBytes } from '#lib/core/families/transcriptions/text';
import { readTranscriptionUsage } from '#lib/core/families/transcriptions/usage';

const base = {
  family: 'transcriptions',
  method: 'POST',
  prefixes: ['v1'],
  steps: 'generate',
  multipart: 'only',
  listensTo: 'file',
  fields: {
    model: {},
    file: { part: 'file' },
    url: {},
    file_url: {},
    file_id: {},
    stream: { part: 'boolean' },
    response_format: {},
    service_tier: {},
  },
} as const;

const operations: readonly Operation[] = [
  { ...base, name: 'audio.transcription', path: 'audio/transcriptions' },
  { ...base, name: 'audio.translation', path: 'audio/translations' },
];

/** Text from speech, in its own language or in English: JSON, plain text, subtitles or a stream of events. */
export const transcriptions: Family = {
  id: 'transcriptions',
  operations,
  readAsk: readTranscriptionAsk,
  edits: ({ scan }, { upstreamModel }) => modelEdits(scan, upstreamModel),
  upstreamPath: ownPath,
  credentialHeader: 'authorization',
  readUsage: readTranscriptionUsage,
  outputBytes: transcriptBytes,
  streamReader: (ask) => new TranscriptionStream(ask),
  bodyReader: (ask, type) => (asksForText(ask) && isText(type) ? new Transcript(ask) : null),
  faultOf: faultReader({ sayings: [] }),
  breakFrame: ({ message, code }) =>
    `data: ${JSON.stringify({ type: 'error', error: { message, code } })}\n\n`,
  signOfLife: ': keep-alive\n\n',
  clientPath: '/v1/audio/transcriptions',
  leastBody: {},
};

/** Plain text and subtitles, under the names that providers give them; a page of HTML is neither. */
function isText(type: string): boolean {
  return type === '' || /^(text\/(plain|vtt|srt)|application\/(x-subrip|octet-stream))/.test(type);
}
