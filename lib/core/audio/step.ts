/** One state of a reader of audio: how many bytes it wants next, and what they say. */
export interface Step {
  /** Bytes of the next header, 1 to 512. */
  readonly want: number;
  /** Reads the header. @returns what follows; null: nothing more can be read. */
  take(bytes: Buffer): Next | null;
  /** Bytes that were skipped have come. */
  passed?(bytes: number): void;
  /** The length so far, ms; null: unknown. */
  ms(): number | null;
}

/** What follows a header. */
export interface Next {
  readonly step: Step;
  /** Bytes to pass over first. */
  readonly skip?: number;
  /** The end of the header, which belongs to the next one. */
  readonly keep?: Buffer;
}
