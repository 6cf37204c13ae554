/** The protocols of the playground. */
export const playgroundFamilies = [
  'chat',
  'responses',
  'messages',
  'generate-content',
  'images',
  'videos',
  'speech',
  'transcriptions',
  'embeddings',
  'rerank',
  'moderations',
] as const;
export type PlaygroundFamily = (typeof playgroundFamilies)[number];

/** A file that is sent with a prompt. */
export interface Attachment {
  readonly name: string;
  /** "image/png". */
  readonly mediaType: string;
  readonly base64: string;
}

/** The conversation, oldest first. */
export type Turn =
  | { readonly role: 'user'; readonly text: string; readonly files: readonly Attachment[] }
  | { readonly role: 'assistant'; readonly text: string };

/** Settings besides the prompt; empty: the field is left out, so the provider's default applies. */
export interface Settings {
  readonly system: string;
  readonly temperature: string;
  readonly maxTokens: string;
  readonly stream: boolean;
  /** Of pictures and videos: "1024x1024". */
  readonly size: string;
  /** How many pictures. */
  readonly count: string;
  /** Of a video. */
  readonly seconds: string;
  /** Of speech. */
  readonly voice: string;
}

export const firstSettings: Settings = {
  system: '',
  temperature: '',
  maxTokens: '',
  stream: true,
  size: '',
  count: '',
  seconds: '',
  voice: '',
};

/** A question before it is written in a protocol. */
export interface Draft {
  readonly model: string;
  /** What the model produces: "text", "image", "video". */
  readonly output: readonly string[];
  /** Ends with the question. */
  readonly turns: readonly Turn[];
  readonly settings: Settings;
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** What the playground sends, and what "View code" shows. */
export interface PlaygroundRequest {
  readonly family: PlaygroundFamily;
  /** "/v1/chat/completions". */
  readonly path: string;
  readonly body: { readonly [name: string]: Json };
  /** It is sent as a form, with this as its part `file`; absent: as JSON. */
  readonly file?: Attachment;
  /** The answer is an event stream. */
  readonly streamed: boolean;
  /** The answer names a job, which is polled until it ends. */
  readonly job: boolean;
}

export function isPlaygroundFamily(family: string): family is PlaygroundFamily {
  return playgroundFamilies.some((one) => one === family);
}

/** The last question of a draft. */
export function questionOf({ turns }: Draft): { text: string; files: readonly Attachment[] } {
  const last = turns.at(-1);
  return last?.role === 'user' ? last : { text: '', files: [] };
}

export function dataUrl({ mediaType, base64 }: Pick<Attachment, 'mediaType' | 'base64'>): string {
  return `data:${mediaType};base64,${base64}`;
}

/** A typed number; undefined leaves the field out. Anything else is sent as it is, and the gateway says what is wrong. */
export function typedNumber(text: string): number | string | undefined {
  const clean = text.trim();
  if (clean === '') return undefined;
  const value = Number(clean);
  return Number.isFinite(value) ? value : clean;
}

/** The members that are not undefined. */
export function given(members: Readonly<Record<string, Json | undefined>>): { [name: string]: Json } {
  const kept = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return Object.fromEntries(kept);
}
