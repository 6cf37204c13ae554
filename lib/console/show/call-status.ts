/** Whether calls are served, and if not by what they are refused; ready to read. */
export interface CallStatus {
  readonly tone: 'good' | 'warn' | 'bad' | 'neutral';
  /** One or two words. */
  readonly text: string;
  /** When or by what it ends: "resets 26 Nov, 00:00"; null where the word says it all. */
  readonly note: string | null;
  /** What happens to calls, why, and what helps, in sentences. */
  readonly why: string;
}

/** Where and when a status is read. */
export interface Place {
  readonly timeZone: string;
  readonly nowMs: number;
}
