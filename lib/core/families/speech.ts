import { modelEdits } from '#lib/core/families/edits';
import { type Family, ownPath } from '#lib/core/families/family';
import { faultReader } from '#lib/core/families/reading/fault';
import { readSpeechAsk } from '#lib/core/families/speech/ask';
import { SpokenAudio } from '#lib/core/families/speech/audio';
import { SpeechStream } from '#lib/core/families/speech/stream';

/** Speech from text: the answer is audio in the format that was asked for, or a stream of events with pieces of it. */
export const speech: Family = {
  id: 'speech',
  operations: [
    {
      name: 'audio.speech',
      family: 'speech',
      method: 'POST',
      path: 'audio/speech',
      prefixes: ['v1'],
      steps: 'generate',
      fields: {
        model: {},
        input: {},
        response_format: {},
        speed: {},
        stream_format: {},
        service_tier: {},
      },
    },
  ],
  readAsk: readSpeechAsk,
  edits: ({ scan }, { upstreamModel }) => modelEdits(scan, upstreamModel),
  upstreamPath: ownPath,
  credentialHeader: 'authorization',
  // Audio reports nothing, and JSON is not speech.
  readUsage: () => null,
  outputBytes: () => 0,
  streamReader: (ask) => new SpeechStream(ask),
  bodyReader: (ask, type) => (isAudio(type) ? new SpokenAudio(ask) : null),
  faultOf: faultReader({ sayings: [] }),
  breakFrame: ({ message, code }) =>
    `event: error\ndata: ${JSON.stringify({ type: 'error', error: { message, code } })}\n\n`,
  signOfLife: ': keep-alive\n\n',
  clientPath: '/v1/audio/speech',
  leastBody: { input: 'hello', voice: 'alloy' },
};

/** Some providers call audio plain bytes, or do not name its type. */
function isAudio(type: string): boolean {
  return type === '' || /^(audio\/|video\/|(application|binary)\/octet-stream)/.test(type);
}
