import type { ReactNode } from 'react';

/** One line of the palette. */
export interface Entry {
  /** Unique among all entries. */
  readonly value: string;
  readonly label: string;
  /** Beside the label; found by it too. */
  readonly hint?: string;
  /** Other words that people look for it with. */
  readonly also?: string;
  readonly icon: ReactNode;
  run(): void;
}

export interface EntryGroup {
  readonly label: string;
  readonly items: readonly Entry[];
}

/** What the console answers a palette that opens. */
export interface Found {
  readonly keys: readonly { readonly id: string; readonly name: string }[];
  readonly models: readonly string[];
}

/** What it answers for a request id: the page of the call, null when no call of the workspace has this id. */
export interface FoundCall {
  readonly href: string | null;
}

const uuidLike = /^[0-9a-f]{8}-[0-9a-f-]{0,27}$/i;
const providersOwn = /^[a-z]{2,12}[_-][\w-]{8,}$/i;

/** Whether a text is most likely a request id, ours or a provider's. */
export function isLikelyId(text: string): boolean {
  return uuidLike.test(text) || (providersOwn.test(text) && /\d/.test(text));
}

/** Whether a text can be a request id at all: a word without any digit is looked for by its meaning. */
export function isPossibleId(text: string): boolean {
  return /^[\w.:/-]{4,200}$/.test(text) && /\d/.test(text);
}
