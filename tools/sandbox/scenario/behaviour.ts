/** How the simulated provider behaves in one request: data that faults override. */
export interface Behaviour {
  /** Between content chunks, ms. */
  readonly gapMs: number;
  /** Text tokens of a choice, unless a budget stops it; null: the prompt decides. */
  readonly tokens: number | null;
  /** Never ends, whatever the budget. */
  readonly endless: boolean;
  /** Reasoning tokens before the text, part of the output. */
  readonly reasoning: number;
  /** The service tier that the answer names; null: the request decides. */
  readonly tier: string | null;
  /** Silence before the status line, ms. */
  readonly firstByteMs: number;
  readonly instead: Instead | null;
  readonly usage: UsageFigures;
  readonly usagePlace: UsagePlace;
  /** Bytes added to each event of a chat stream. */
  readonly paddingBytes: number;
  /** Additional events: see the table in faults.ts. */
  readonly extra: Extra | null;
  /** Line ending of the event stream; null: the family's own. */
  readonly newline: '\n' | '\r\n' | '\r' | null;
  readonly stop: Stop | null;
  /** Bytes per write; null: an event or a body at once. */
  readonly sliceBytes: number | null;
  /** Announced minus true content-length, bytes; null: honest framing. */
  readonly lengthOffset: number | null;
  readonly gzip: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** `none`: no usage anywhere. `fraction`: figures that are not whole numbers. */
export type UsageFigures = 'honest' | 'none' | 'null' | 'negative' | 'absurd' | 'fraction';

/** Where a stream's usage is; `own-chunk` is what was requested, the others are not. */
export type UsagePlace = 'own-chunk' | 'twice' | 'finish-chunk' | 'every-chunk' | 'x-groq';

export type Extra = 'moderation' | 'comments' | 'done-twice' | 'trailing-bytes';

/** What replaces an answer of the family. */
export type Instead =
  | { readonly kind: 'status'; readonly status: number; readonly body: 'error' | 'xai-key' | 'html' | 'json' }
  | { readonly kind: 'silence' }
  | { readonly kind: 'close' }
  | { readonly kind: 'reset' };

/** What happens after `after` content chunks of a stream, or halfway through a whole body. */
export interface Stop {
  readonly by: 'stall' | 'fin' | 'inside' | 'reset' | 'end' | 'error-event' | 'malformed';
  readonly after: number;
  /** How long a stall lasts, ms; null: forever. */
  readonly resumeMs: number | null;
}

export const honest: Behaviour = {
  gapMs: 0,
  tokens: null,
  endless: false,
  reasoning: 0,
  tier: null,
  firstByteMs: 0,
  instead: null,
  usage: 'honest',
  usagePlace: 'own-chunk',
  paddingBytes: 0,
  extra: null,
  newline: null,
  stop: null,
  sliceBytes: null,
  lengthOffset: null,
  gzip: false,
  headers: {},
};
