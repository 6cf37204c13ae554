import {
  embeddingsBody,
  moderationsBody,
  rerankBody,
  speechBody,
  transcriptionBody,
} from '#lib/console/playground/bodies/lines';
import { imagesBody, predictionBody, videosBody } from '#lib/console/playground/bodies/media';
import {
  chatBody,
  generateContentBody,
  messagesBody,
  responsesBody,
} from '#lib/console/playground/bodies/text';
import {
  type Draft,
  type PlaygroundFamily,
  type PlaygroundRequest,
  questionOf,
} from '#lib/console/playground/draft';

/** Writes a question in a protocol. Pure: the same object is sent and shown as code. */
export function requestOf(family: PlaygroundFamily, draft: Draft): PlaygroundRequest {
  const streamed = draft.settings.stream;
  const whole = { family, streamed: false, job: false };
  switch (family) {
    case 'chat':
      return { family, path: '/v1/chat/completions', body: chatBody(draft), streamed, job: false };
    case 'responses':
      return { family, path: '/v1/responses', body: responsesBody(draft), streamed, job: false };
    case 'messages':
      return { family, path: '/v1/messages', body: messagesBody(draft), streamed, job: false };
    case 'images': {
      const verb = questionOf(draft).files.length > 0 ? 'edits' : 'generations';
      return { ...whole, path: `/v1/images/${verb}`, body: imagesBody(draft), streamed };
    }
    case 'videos':
      return { ...whole, path: '/v1/videos', body: videosBody(draft), job: true };
    case 'generate-content':
      return contentRequest(draft);
    case 'speech':
      return { ...whole, path: '/v1/audio/speech', body: speechBody(draft) };
    case 'transcriptions': {
      const [file] = questionOf(draft).files;
      const request = { ...whole, path: '/v1/audio/transcriptions', body: transcriptionBody(draft) };
      return file ? { ...request, file } : request;
    }
    case 'embeddings':
      return { ...whole, path: '/v1/embeddings', body: embeddingsBody(draft) };
    case 'rerank':
      return { ...whole, path: '/v1/rerank', body: rerankBody(draft) };
    case 'moderations':
      return { ...whole, path: '/v1/moderations', body: moderationsBody(draft) };
  }
}

function contentRequest(draft: Draft): PlaygroundRequest {
  const family = 'generate-content';
  // The slashes of a slug are part of the address.
  const model = `/v1beta/models/${draft.model.split('/').map(encodeURIComponent).join('/')}`;
  if (makesVideos(draft.output)) {
    const body = predictionBody(draft);
    return { family, path: `${model}:predictLongRunning`, body, streamed: false, job: true };
  }
  const body = generateContentBody(draft);
  return draft.settings.stream
    ? { family, path: `${model}:streamGenerateContent?alt=sse`, body, streamed: true, job: false }
    : { family, path: `${model}:generateContent`, body, streamed: false, job: false };
}

/** Whether a protocol is a conversation. */
export function talks(family: PlaygroundFamily): boolean {
  return ['chat', 'responses', 'messages', 'generate-content'].includes(family);
}

/** Whether a model produces video and no text. */
export function makesVideos(output: readonly string[]): boolean {
  return output.includes('video') && !output.includes('text');
}

/** Files that are written down; browsers have several names for some. */
const recordings = [
  ...['wav', 'x-wav', 'mpeg', 'mp4', 'x-m4a', 'ogg', 'flac', 'x-flac', 'webm'].map((type) => `audio/${type}`),
  'video/mp4',
  'video/webm',
];

/** Protocols whose prompt is one or more lines, and whose answer is a list of figures. */
export const comparing: ReadonlySet<PlaygroundFamily> = new Set(['embeddings', 'rerank', 'moderations']);

/** The media types that may be sent with a prompt, for a file input; "": none. @param input what the model reads. */
export function acceptedFiles(family: PlaygroundFamily, input: readonly string[]): string {
  if (family === 'transcriptions') return recordings.join(',');
  if (family === 'speech' || comparing.has(family)) return '';
  const images = input.includes('image') ? ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] : [];
  if (family === 'images' || family === 'videos') return images.slice(0, 3).join(',');
  const documents = input.includes('pdf') ? ['application/pdf'] : [];
  const audio = input.includes('audio') ? ['audio/wav', 'audio/mpeg'] : [];
  const video = input.includes('video') ? ['video/mp4'] : [];
  const more: Partial<Record<PlaygroundFamily, string[]>> = {
    chat: [...documents, ...audio],
    responses: documents,
    messages: documents,
    'generate-content': [...documents, ...audio, ...video],
  };
  return [...images, ...(more[family] ?? [])].join(',');
}
