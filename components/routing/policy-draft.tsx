'use client';

import { useEffect, useRef, useState } from 'react';
import { labelOf } from '#lib/gateway/routing/pure/policy/difference';
import { mergeChanges } from '#lib/gateway/routing/pure/policy/merge';
import type { DraftPolicy } from '#lib/gateway/routing/pure/policy/read';

/** A policy as opened in the editor. */
export interface OpenedPolicy {
  /** The version in force; 0: none. */
  readonly version: number;
  readonly policy: DraftPolicy;
  readonly publishedBy: string | null;
  readonly draft: {
    readonly policy: DraftPolicy;
    readonly base: number;
    readonly revision: number;
    readonly savedAt: string;
    readonly savedBy: string | null;
  } | null;
}

/** The state that the user's changes are based on. */
interface Start {
  readonly policy: DraftPolicy;
  readonly version: number;
  readonly revision: number;
}

interface Kept {
  readonly start: Start;
  readonly policy: DraftPolicy;
}

const startOf = ({ version, policy, draft }: OpenedPolicy): Start => ({
  policy: draft?.policy ?? policy,
  version,
  revision: draft?.revision ?? 0,
});
const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

interface State extends Kept {
  /** What happened to the user's changes; null: nothing to report. */
  readonly notice: string | null;
}

/** Merges the user's changes with the current state. @param why start of the notice about the merge. */
function join(from: Kept, now: Start, why: string): State {
  const { policy, both } = mergeChanges(from.start.policy, from.policy, now.policy);
  if (same(from.policy, from.start.policy) || same(policy, now.policy)) {
    return { start: now, policy, notice: null };
  }
  const names = both.map((key) => labelOf(key).toLowerCase()).join(' and ');
  const kept = both.length > 0 ? `You both changed ${names}. Your changes are kept below.` : joined;
  return { start: now, policy, notice: `${why} ${kept} Check them before you continue.` };
}

const joined = 'Your changes and theirs are merged below.';
const isSame = (one: Start, other: Start) => one.version === other.version && one.revision === other.revision;

function restored({ start }: State, kept: Kept): State {
  if (!isSame(start, kept.start))
    return join(kept, start, 'This policy was changed since you edited it here.');
  return { start, policy: kept.policy, notice: 'Your unsaved changes were restored.' };
}

/**
 * The draft of one policy in this browser. Unsaved changes survive reloads; changes that others saved or
 * published in the meantime are merged, so that neither is lost.
 * @param place names workspace and policy.
 */
export function usePolicyDraft(opened: OpenedPolicy, place: string) {
  const storage = storedAt(place);
  const [state, setState] = useState<State>(() => {
    const start = startOf(opened);
    return { start, policy: start.policy, notice: null };
  });
  const { start, policy, notice } = state;
  const dirty = !same(policy, start.policy);
  const loaded = useRef(false);

  // localStorage can be read only after hydration.
  useEffect(() => {
    const kept = readKept(storage);
    loaded.current = true;
    if (kept) setState((now) => restored(now, kept));
  }, [storage]);

  // After a refresh, the server may return another version or draft than the one the changes are based on.
  useEffect(() => {
    const next = startOf(opened);
    setState((now) =>
      isSame(now.start, next) ? now : join(now, next, 'Someone else changed this policy in the meantime.'),
    );
  }, [opened]);

  useEffect(() => {
    if (!loaded.current) return;
    if (dirty) keep(storage, { start, policy });
    else drop(storage);
  }, [storage, dirty, start, policy]);

  return {
    start,
    policy,
    dirty,
    notice,
    setPolicy: (next: DraftPolicy) => setState((now) => ({ ...now, policy: next })),
    /** Continues with the current state. */
    adopt: (next: OpenedPolicy, why: string) => setState((now) => join(now, startOf(next), why)),
    dismiss: () => setState((now) => ({ ...now, notice: null })),
    /** Called after the current draft was saved or published. */
    settled: (version: number, revision: number) =>
      setState({ start: { policy, version, revision }, policy, notice: null }),
    /** Discards the user's changes. */
    reset(to: OpenedPolicy) {
      const now = startOf(to);
      setState({ start: now, policy: now.policy, notice: null });
    },
  };
}

const storedAt = (place: string) => `routing-draft ${place}`;

/** The models of a workspace with unsaved changes to their policy in this browser, without the default policy. */
export function unsavedModels(workspace: string): string[] {
  const start = storedAt(`${workspace} `);
  try {
    return Object.keys(window.localStorage)
      .filter((name) => name.startsWith(start) && readKept(name) !== null)
      .map((name) => name.slice(start.length))
      .filter((place) => place !== 'default')
      .sort();
  } catch {
    return [];
  }
}

/** Without localStorage, a reload loses unsaved changes and nothing else. */
function keep(name: string, kept: Kept): void {
  try {
    window.localStorage.setItem(name, JSON.stringify(kept));
  } catch {}
}

function drop(name: string): void {
  try {
    window.localStorage.removeItem(name);
  } catch {}
}

function readKept(name: string): Kept | null {
  try {
    const kept: unknown = JSON.parse(window.localStorage.getItem(name) ?? 'null');
    return isKept(kept) ? kept : null;
  } catch {
    return null;
  }
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== 'object' || value === null || !('start' in value) || !('policy' in value))
    return false;
  const { start, policy } = value;
  const isObject = (one: unknown) => typeof one === 'object' && one !== null && !Array.isArray(one);
  return (
    isObject(policy) && isObject(start) && typeof start === 'object' && start !== null && 'policy' in start
  );
}
