import type { ReactNode } from 'react';

/** An entry of the palette. */
export interface Entry {
  /** Unique among all entries. */
  readonly value: string;
  readonly label: string;
  /** Shown beside the label; the search matches it, too. */
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

/** What the console returns when the palette opens. */
export interface Found {
  readonly keys: readonly { readonly id: string; readonly name: string }[];
  readonly models: readonly string[];
}

/** The response for a request id: URL of the call's page; null if no call of the workspace has this id. */
export interface FoundCall {
  readonly href: string | null;
}

const uuidLike = /^[0-9a-f]{8}-[0-9a-f-]{0,27}$/i;
const providersOwn = /^[a-z]{2,12}[_-][\w-]{8,}$/i;

/** Whether a text is probably a request id, ours or a provider's. */
export function isLikelyId(text: string): boolean {
  return uuidLike.test(text) || (providersOwn.test(text) && /\d/.test(text));
}

/** Whether a text can be a request id at all: a word without any digit is looked for by its meaning. */
export function isPossibleId(text: string): boolean {
  return /^[\w.:/-]{4,200}$/.test(text) && /\d/.test(text);
}
