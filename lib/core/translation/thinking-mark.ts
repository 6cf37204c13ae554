import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { objectIn, parseJson, textIn } from '#lib/core/families/reading/json';

/**
 * What a provider signed or encrypted of its thinking. It goes to the client in the client's own field for such things
 * and comes back with the next turn, for the same maker's models only (docs/decisions/translation.md).
 */
export interface ThinkingMark {
  /** Maker of the model, such as "anthropic": its models at another cloud are the same. */
  readonly maker: string;
  /** The provider's metadata of the part, unchanged. */
  readonly metadata: SharedV4ProviderMetadata;
  /** The tool call that the metadata belongs to; absent: the thinking itself. */
  readonly toolCallId?: string;
}

/** How each mark begins. */
export const markPrefix = 'mgt1_';

/** A string for the client's field, of the characters of base64url. */
export function markThinking(mark: ThinkingMark): string {
  return markPrefix + Buffer.from(JSON.stringify(mark)).toString('base64url');
}

/** Whether a client's field has a mark of ours, also one that was damaged on the way. */
export function isMark(field: unknown): field is string {
  return typeof field === 'string' && field.startsWith(markPrefix);
}

/** The mark in a client's field; null for anything that is not a mark of ours, such as a provider's own signature. */
export function readMark(field: unknown): ThinkingMark | null {
  if (!isMark(field)) return null;
  const read = objectIn(parseJson(Buffer.from(field.slice(markPrefix.length), 'base64url').toString()));
  const maker = textIn(read?.maker);
  const metadata = readMetadata(read?.metadata);
  if (maker === null || metadata === null) return null;
  const toolCallId = textIn(read?.toolCallId);
  return toolCallId === null ? { maker, metadata } : { maker, metadata, toolCallId };
}

function readMetadata(value: unknown): SharedV4ProviderMetadata | null {
  const object = objectIn(value);
  return object && Object.values(object).every((one) => objectIn(one))
    ? (object as SharedV4ProviderMetadata)
    : null;
}
