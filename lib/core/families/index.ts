import { chat } from '#lib/core/families/chat';
import { completions } from '#lib/core/families/completions';
import { embedContent } from '#lib/core/families/embed-content';
import type { Family, Operation } from '#lib/core/families/family';
import { generateContent } from '#lib/core/families/generate-content';
import type { FamilyId } from '#lib/core/families/ids';
import { images } from '#lib/core/families/images';
import { embeddings, moderations, rerank } from '#lib/core/families/input-only';
import { messages } from '#lib/core/families/messages';
import { modelsOperations } from '#lib/core/families/models';
import { realtime } from '#lib/core/families/realtime';
import { responses } from '#lib/core/families/responses';
import { speech } from '#lib/core/families/speech';
import { transcriptions } from '#lib/core/families/transcriptions';
import { videos } from '#lib/core/families/videos';

/** Every protocol family that the gateway serves: one line each. */
export const families: readonly Family[] = [
  chat,
  responses,
  messages,
  images,
  videos,
  generateContent,
  completions,
  embeddings,
  embedContent,
  rerank,
  moderations,
  speech,
  transcriptions,
  realtime,
];

/** The gateway's whole table of routes (contract: families/operations). */
export const operations: readonly Operation[] = [
  ...modelsOperations,
  ...families.flatMap((family) => family.operations),
];

const byId = new Map(families.map((family) => [family.id, family]));

/** The family of an operation; null for the models operations, which no provider answers. */
export function familyOf(id: Operation['family']): Family | null {
  return id === 'models' ? null : (byId.get(id) ?? null);
}

/** Where clients call a family, for messages: "/v1/chat/completions". */
export function clientPath(id: FamilyId): string {
  return byId.get(id)?.clientPath ?? id;
}
