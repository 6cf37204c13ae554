import type { JobState } from '#lib/console/playground/answers/media';
import type { PlaygroundAnswer } from '#lib/console/playground/answers/read';
import type { Attachment, PlaygroundRequest } from '#lib/console/playground/draft';
import type { CallFigures } from '#lib/console/playground/figures';

/** The headers of an answer. */
export interface CallHead {
  readonly status: number;
  readonly requestId: string;
  readonly model: string | null;
  readonly provider: string | null;
  readonly attempts: string | null;
}

export interface Refusal {
  /** null: no call was made. */
  readonly status: number | null;
  readonly code: string | null;
  readonly message: string;
  /** Whether the session has ended. */
  readonly signedOut: boolean;
}

/** A question and its answer. */
export interface Run {
  readonly id: string;
  readonly question: { readonly text: string; readonly files: readonly Attachment[] };
  readonly request: PlaygroundRequest;
  readonly state: 'running' | 'done' | 'stopped' | 'refused' | 'broken';
  readonly answer: PlaygroundAnswer;
  readonly head: CallHead | null;
  /** Time from the click to the first byte of the answer, measured in the browser. */
  readonly firstByteMs: number | null;
  readonly job: JobState | null;
  /** The results of a job, as object URLs of this page. */
  readonly films: readonly string[];
  /** Speech, as object URLs of this page. */
  readonly sounds: readonly string[];
  readonly refusal: Refusal | null;
  /** The log's figures; null: not available yet. */
  readonly figures: CallFigures | null;
}
