import type { JobState } from '#lib/console/playground/answers/media';
import type { PlaygroundAnswer } from '#lib/console/playground/answers/read';
import type { Attachment, PlaygroundRequest } from '#lib/console/playground/draft';
import type { CallFigures } from '#lib/console/playground/figures';

/** What the headers of an answer say. */
export interface CallHead {
  readonly status: number;
  readonly requestId: string;
  readonly model: string | null;
  readonly provider: string | null;
  readonly attempts: string | null;
}

export interface Refusal {
  /** null: the call was not made. */
  readonly status: number | null;
  readonly code: string | null;
  readonly message: string;
  /** Nobody is signed in any more. */
  readonly signedOut: boolean;
}

/** A question that was sent, and what became of it. */
export interface Run {
  readonly id: string;
  readonly question: { readonly text: string; readonly files: readonly Attachment[] };
  readonly request: PlaygroundRequest;
  readonly state: 'running' | 'done' | 'stopped' | 'refused' | 'broken';
  readonly answer: PlaygroundAnswer;
  readonly head: CallHead | null;
  /** From the press of the button to the first byte of the answer, as seen here. */
  readonly firstByteMs: number | null;
  readonly job: JobState | null;
  /** What a job made: addresses inside this page. */
  readonly films: readonly string[];
  readonly refusal: Refusal | null;
  /** What the log says of it; null: not yet. */
  readonly figures: CallFigures | null;
}
