import { type Family, ownPath } from '#lib/core/families/family';
import { EventReader } from '#lib/core/families/reading/event-reader';
import { faultReader } from '#lib/core/families/reading/fault';
import {
  isForTranscripts,
  readRealtimeAsk,
  realtimeEdits,
  realtimeFields,
} from '#lib/core/families/realtime/ask';

/**
 * Sessions over a WebSocket in which a client and a model talk: each response is a call
 * (contract: realtime/session). The body of such a call is the client's event `response.create`; the model is in the query of the handshake.
 */
export const realtime: Family = {
  id: 'realtime',
  operations: [
    {
      name: 'realtime.create',
      family: 'realtime',
      method: 'GET',
      path: 'realtime',
      prefixes: ['v1'],
      steps: 'generate',
      budgeted: true,
      sameModel: true,
      socket: true,
      fields: realtimeFields,
    },
  ],
  readAsk: readRealtimeAsk,
  edits: realtimeEdits,
  // A transcription session takes its model from `session.update` only (contract: realtime/transcription).
  upstreamPath: (ask, { upstreamModel }) =>
    `${ownPath(ask)}?${isForTranscripts(ask) ? 'intent=transcription' : `model=${encodeURIComponent(upstreamModel)}`}`,
  credentialHeader: 'authorization',
  // Answers are events of the session, which `ResponseMeter` reads.
  readUsage: () => null,
  outputBytes: () => 0,
  streamReader: () => new EventReader(),
  faultOf: faultReader({ sayings: [] }),
  breakFrame: () => null,
  signOfLife: null,
  clientPath: '/v1/realtime',
  leastBody: { type: 'response.create' },
};
