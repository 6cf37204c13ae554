import type {
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { FamilyId } from '#lib/core/families/ids';
import type { JsonObject } from '#lib/core/families/reading/json';

/** The protocols that answer with text: requests of one can be written in another (contract: translation/protocols). */
export const textProtocols = ['chat', 'responses', 'messages', 'generate-content'] as const;

/**
 * What a client asks for is read into the provider specification of the AI SDK, whose packages write it for the
 * provider and read the answer (docs/decisions/translation.md). Here are the client's sides: `read` and `write` of each
 * protocol.
 */
export type TextProtocol = (typeof textProtocols)[number];

/**
 * The whole conversation, with tools, sampling, budget and the wanted format of the answer. `providerOptions` has, by
 * package ("openai", "anthropic", "google"), what only some protocols have a field for; each package reads its own.
 */
export type Conversation = Omit<LanguageModelV4CallOptions, 'abortSignal' | 'headers' | 'includeRawChunks'>;

/** One part of an answer, in the order of the stream. */
export type AnswerPart = LanguageModelV4StreamPart;

/** An answer that is not streamed. */
export type WholeAnswer = Pick<
  LanguageModelV4GenerateResult,
  'content' | 'finishReason' | 'usage' | 'providerMetadata'
>;

/** A request that was read. */
export interface ReadRequest {
  readonly conversation: Conversation;
  /** What the writer of the answer needs to know of the request: fields that the protocol's answers repeat. */
  readonly echo: JsonObject;
}

/** Why a request cannot be translated: 400 `invalid_body`. */
export interface Unreadable {
  /** Path of the field, as `messages[2].content[0].image_url`. */
  readonly field: string;
  /** A sentence that names the field and says what to send instead. */
  readonly message: string;
  /** What an SDK reads of the error to go on another way. */
  readonly details?: JsonObject;
}

/** What an answer says of itself. */
export interface AnswerFacts {
  /** Id of the gateway's call, a UUID; writers derive the ids of the answer's parts from it. */
  readonly id: string;
  /** The slug that the client asked for. */
  readonly model: string;
  /** Seconds since 1970. */
  readonly createdSeconds: number;
  /** Input tokens as far as they are known before the answer, for protocols that send them first; null: unknown. */
  readonly inputTokens: number | null;
  /** The maker of the answering model, for marks of thinking (`markThinking`). */
  readonly maker: string;
  readonly echo: JsonObject;
}

/** Writes a streamed answer, one part after another. */
export interface StreamWriter {
  /** The client's events for one part, as text to send; empty if there is nothing to say yet. */
  write(part: AnswerPart): string;
  /**
   * Breaks the stream off with the protocol's own error event.
   * @param message what went wrong, in the provider's words or the gateway's.
   */
  breakOff(message: string): string;
}

/** The client's side of one protocol. */
export interface ProtocolTranslation {
  /** @param body the parsed JSON of the request. */
  readonly read: (body: JsonObject) => ReadRequest | Unreadable;
  readonly createWriter: (facts: AnswerFacts) => StreamWriter;
  readonly writeWhole: (answer: WholeAnswer, facts: AnswerFacts) => JsonObject;
}

/** Whether requests of this family can be translated. */
export function isTextProtocol(family: FamilyId): family is TextProtocol {
  return (textProtocols as readonly FamilyId[]).includes(family);
}

export function isUnreadable(read: ReadRequest | Unreadable): read is Unreadable {
  return 'message' in read;
}
