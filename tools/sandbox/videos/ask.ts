import { record } from '#tools/sandbox/content/tool-call';
import type { ReceivedRequest } from '#tools/sandbox/dialect';
import { invalidValue, missingParameter } from '#tools/sandbox/scenario/provider-fault';
import type { Video } from '#tools/sandbox/videos/video';
import { readFields } from '#tools/sandbox/wire/read-form';

const known = new Set(['model', 'prompt', 'seconds', 'size', 'input_reference', 'characters']);
const knownOfSource = new Set(['model', 'prompt', 'seconds', 'video']);
const sizes = ['720x1280', '1280x720', '1024x1792', '1792x1024'];

/** What a create call asks for, in a form or as JSON. @throws ProviderFault 400 with the family's message. */
export function readVideoAsk(
  seen: ReceivedRequest,
): Pick<Video, 'model' | 'prompt' | 'seconds' | 'size' | 'remixedFrom'> {
  const { texts, prompt } = readFields(seen, known);
  const seconds = texts.get('seconds') ?? '4';
  if (!/^\d+$/.test(seconds)) throw invalidValue('seconds', seconds);
  const size = texts.get('size') ?? '720x1280';
  if (!sizes.includes(size)) throw invalidValue('size', size);
  return { model: texts.get('model') ?? 'echo', prompt, seconds, size, remixedFrom: null };
}

/** What an edit or an extension asks for. `id`: of its source; null: it came as a file. @throws ProviderFault 400. */
export function readSourceAsk(seen: ReceivedRequest) {
  const { texts, prompt, files, members } = readFields(seen, knownOfSource);
  const id = texts.get('video[id]') ?? record(members.video).id;
  const seconds = texts.get('seconds') ?? (seen.path === '/videos/extensions' ? '' : '4');
  if (!/^\d+$/.test(seconds)) throw invalidValue('seconds', seconds);
  if (typeof id !== 'string' && !files.some(({ name }) => name === 'video')) throw missingParameter('video');
  return { id: typeof id === 'string' ? id : null, model: texts.get('model') ?? 'film', prompt, seconds };
}

/** The prompt of a remix, which has no other field. */
export function readRemixPrompt(seen: ReceivedRequest): string {
  return readFields(seen, known).prompt;
}
