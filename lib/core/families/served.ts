import { type FamilyId, familyIds } from '#lib/core/families/ids';
import type { TextProtocol } from '#lib/core/translation/conversation';

/**
 * Operations that an offer may name as those that it serves, by family: all that generate or count. A test compares
 * them with the families, which this file does not load, because schemas of files need it.
 */
const offered: Readonly<Record<FamilyId, readonly string[]>> = {
  chat: ['chat.create', 'batches.create'],
  responses: ['responses.create', 'responses.compact', 'responses.input_tokens'],
  messages: ['messages.create', 'messages.count_tokens', 'messages.batches.create'],
  images: ['images.generate', 'images.edit'],
  videos: ['videos.create', 'videos.remix', 'videos.edit', 'videos.extend'],
  'generate-content': [
    'content.generate',
    'content.stream',
    'content.count',
    'content.predictLongRunning',
    'content.caches.create',
    'content.caches.update',
  ],
  completions: ['completions.create'],
  embeddings: ['embeddings.create'],
  'embed-content': ['content.embed', 'content.embed_batch'],
  rerank: ['rerank.create'],
  moderations: ['moderations.create'],
  speech: ['audio.speech'],
  transcriptions: ['audio.transcription', 'audio.translation'],
  realtime: ['realtime.create'],
};

/** The operations that an offer of these families may name. */
export function offeredOperations(some: readonly FamilyId[]): readonly string[] {
  return familyIds.filter((id) => some.includes(id)).flatMap((id) => offered[id]);
}

/**
 * What an offer that names operations does not serve: the others of the families of which it names one
 * (contract: routing/abilities).
 * @param operations those that it names; none: it serves all.
 */
export function unservedBy(operations: readonly string[], some: readonly FamilyId[]): ReadonlySet<string> {
  const narrowed = some.filter((id) => offered[id].some((name) => operations.includes(name)));
  return new Set(offeredOperations(narrowed).filter((name) => !operations.includes(name)));
}

/** The operation by which an offer is called where a request is translated for it. */
export function writtenOperation(to: TextProtocol, stream: boolean): string {
  return written[to][stream ? 'stream' : 'whole'];
}

const written: Readonly<Record<TextProtocol, { readonly whole: string; readonly stream: string }>> = {
  chat: { whole: 'chat.create', stream: 'chat.create' },
  responses: { whole: 'responses.create', stream: 'responses.create' },
  messages: { whole: 'messages.create', stream: 'messages.create' },
  'generate-content': { whole: 'content.generate', stream: 'content.stream' },
};
