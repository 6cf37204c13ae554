/** How the simulated provider behaves in one request: plain data that faults override. */
export interface Behaviour {
  /** Between content chunks, ms. */
  readonly gapMs: number;
  /** Text tokens of a choice that no budget stops; null: as the prompt has it. */
  readonly tokens: number | null;
  /** Never ends by itself, whatever the budget. */
  readonly endless: boolean;
  /** Reasoning tokens before the text, part of the output. */
  readonly reasoning: number;
  /** The service tier that the answer names; null: by what was asked. */
  readonly tier: string | null;
  /** Silence before the status line, ms. */
  readonly firstByteMs: number;
  readonly instead: Instead | null;
  readonly usage: UsageFigures;
  readonly usagePlace: UsagePlace;
  /** Bytes that each event of a chat stream is longer by. */
  readonly paddingBytes: number;
  /** Further events: see the table in faults.ts. */
  readonly extra: Extra | null;
  /** Line ending of the event stream; null: the family's own. */
  readonly newline: '\n' | '\r\n' | '\r' | null;
  readonly stop: Stop | null;
  /** Bytes a write; null: an event or a body at once. */
  readonly sliceBytes: number | null;
  /** Announced minus true content-length, bytes; null: honest framing. */
  readonly lengthOffset: number | null;
  readonly gzip: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** `none`: no usage anywhere. `fraction`: figures that are not whole numbers. */
export type UsageFigures = 'honest' | 'none' | 'null' | 'negative' | 'absurd' | 'fraction';

/** Where a stream's usage stands; `own-chunk` is what was asked for, the others come unasked. */
export type UsagePlace = 'own-chunk' | 'twice' | 'finish-chunk' | 'every-chunk' | 'x-groq';

export type Extra = 'moderation' | 'comments' | 'done-twice' | 'trailing-bytes';

/** An answer that is not the family's. */
export type Instead =
  | { readonly kind: 'status'; readonly status: number; readonly body: 'error' | 'xai-key' | 'html' | 'json' }
  | { readonly kind: 'silence' }
  | { readonly kind: 'close' }
  | { readonly kind: 'reset' };

/** What happens after `after` content chunks of a stream; a whole body breaks at its half. */
export interface Stop {
  readonly by: 'stall' | 'fin' | 'inside' | 'reset' | 'end' | 'error-event' | 'malformed';
  readonly after: number;
  /** A stall ends after so long, ms; null: never. */
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
