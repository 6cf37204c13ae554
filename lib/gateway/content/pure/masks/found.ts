/** Where a secret is in a string, in UTF-16 units, and what it is called. */
export interface Found {
  readonly from: number;
  readonly to: number;
  /** "mail address". */
  readonly name: string;
}

/** Finds the secrets of one kind in a string; its time grows with the length of the string, whatever is in it. */
export type Finder = (text: string) => readonly Found[];
