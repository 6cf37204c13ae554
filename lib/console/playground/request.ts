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

/** Whether a model produces video and no text. */
export function makesVideos(output: readonly string[]): boolean {
  return output.includes('video') && !output.includes('text');
}

/** The media types that may be sent with a prompt, for a file input; "": none. @param input what the model reads. */
export function acceptedFiles(family: PlaygroundFamily, input: readonly string[]): string {
  const images = input.includes('image') ? ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] : [];
  if (family === 'images' || family === 'videos') return images.slice(0, 3).join(',');
  const documents = input.includes('pdf') ? ['application/pdf'] : [];
  const audio = input.includes('audio') ? ['audio/wav', 'audio/mpeg'] : [];
  const video = input.includes('video') ? ['video/mp4'] : [];
  const more = {
    chat: [...documents, ...audio],
    responses: documents,
    messages: documents,
    'generate-content': [...documents, ...audio, ...video],
  };
  return [...images, ...more[family]].join(',');
}
