/** The protocols that the playground speaks. */
export const playgroundFamilies = [
  'chat',
  'responses',
  'messages',
  'generate-content',
  'images',
  'videos',
] as const;
export type PlaygroundFamily = (typeof playgroundFamilies)[number];

/** A file that goes along with a prompt. */
export interface Attachment {
  readonly name: string;
  /** "image/png". */
  readonly mediaType: string;
  readonly base64: string;
}

/** What was said before, the oldest first. */
export type Turn =
  | { readonly role: 'user'; readonly text: string; readonly files: readonly Attachment[] }
  | { readonly role: 'assistant'; readonly text: string };

/** What is set beside the prompt; empty: the field is left out, so that the provider's own default holds. */
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
}

export const firstSettings: Settings = {
  system: '',
  temperature: '',
  maxTokens: '',
  stream: true,
  size: '',
  count: '',
  seconds: '',
};

/** A question as a person put it, before it is written for a protocol. */
export interface Draft {
  readonly model: string;
  /** What the model writes: "text", "image", "video". */
  readonly output: readonly string[];
  /** Ends with the question. */
  readonly turns: readonly Turn[];
  readonly settings: Settings;
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** What is sent: the playground sends exactly this, and "view code" shows exactly this. */
export interface PlaygroundRequest {
  readonly family: PlaygroundFamily;
  /** "/v1/chat/completions". */
  readonly path: string;
  readonly body: { readonly [name: string]: Json };
  /** The answer is an event stream. */
  readonly streamed: boolean;
  /** The answer names a job, whose end is asked for. */
  readonly job: boolean;
}

export function isPlaygroundFamily(family: string): family is PlaygroundFamily {
  return playgroundFamilies.some((one) => one === family);
}

/** The question that a draft ends with. */
export function questionOf({ turns }: Draft): { text: string; files: readonly Attachment[] } {
  const last = turns.at(-1);
  return last?.role === 'user' ? last : { text: '', files: [] };
}

export function dataUrl({ mediaType, base64 }: Pick<Attachment, 'mediaType' | 'base64'>): string {
  return `data:${mediaType};base64,${base64}`;
}

/** A number that somebody typed; undefined leaves the field out. What is no number goes as it is: the gateway says so. */
export function typedNumber(text: string): number | string | undefined {
  const clean = text.trim();
  if (clean === '') return undefined;
  const value = Number(clean);
  return Number.isFinite(value) ? value : clean;
}

/** Without the members that are undefined. */
export function given(members: Readonly<Record<string, Json | undefined>>): { [name: string]: Json } {
  const kept = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return Object.fromEntries(kept);
}
