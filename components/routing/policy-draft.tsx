'use client';

import { useEffect, useRef, useState } from 'react';
import { labelOf } from '#lib/gateway/routing/pure/policy/difference';
import { mergeChanges } from '#lib/gateway/routing/pure/policy/merge';
import type { DraftPolicy } from '#lib/gateway/routing/pure/policy/read';

/** A policy as its editor opens it. */
export interface OpenedPolicy {
  /** In force; 0: none was set. */
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

/** What the changes here began with. */
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
  /** What became of one's own changes; null: nothing to tell. */
  readonly notice: string | null;
}

/** One's own changes joined with what stands now. @param why told with what became of them. */
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
 * The draft of one policy in this browser. What is not saved is kept across reloads; what somebody else saved or
 * published meanwhile is joined with it, so that neither is lost.
 * @param place names workspace and policy.
 */
export function usePolicyDraft(opened: OpenedPolicy, place: string) {
  const storage = `routing-draft ${place}`;
  const [state, setState] = useState<State>(() => {
    const start = startOf(opened);
    return { start, policy: start.policy, notice: null };
  });
  const { start, policy, notice } = state;
  const dirty = !same(policy, start.policy);
  const loaded = useRef(false);

  // The browser's own storage can be read once the page is there.
  useEffect(() => {
    const kept = readKept(storage);
    loaded.current = true;
    if (kept) setState((now) => restored(now, kept));
  }, [storage]);

  // After a refresh the server may show another version or draft than the one that was begun with.
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
    /** Goes on from what stands now. */
    adopt: (next: OpenedPolicy, why: string) => setState((now) => join(now, startOf(next), why)),
    dismiss: () => setState((now) => ({ ...now, notice: null })),
    /** It was saved or published as it stands here. */
    settled: (version: number, revision: number) =>
      setState({ start: { policy, version, revision }, policy, notice: null }),
    /** Drops what was changed here. */
    reset(to: OpenedPolicy) {
      const now = startOf(to);
      setState({ start: now, policy: now.policy, notice: null });
    },
  };
}

/** A browser that keeps nothing loses what was not saved on a reload, and no more. */
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
