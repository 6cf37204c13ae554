'use client';

import { useCallback, useRef } from 'react';
import { type GetKey, KeyRefused } from '#components/playground/run-call';
import type { ActionResult } from '#lib/console/operation';

/** Returns a playground key for this session. */
export type OpenPlayground = (
  workspace: string,
  input: unknown,
) => Promise<ActionResult<{ key: string; expiresAt: string }>>;

/** A key is replaced this long before it expires, so that no call starts with an expired one. */
const spareMs = 60_000;

/** This page's key: kept in memory only, and requested by the first call. */
export function useKey(workspace: string, open: OpenPlayground): GetKey {
  const held = useRef<{ key: string; endsAtMs: number } | null>(null);
  const asking = useRef<Promise<string> | null>(null);
  return useCallback(
    (fresh) => {
      const own = held.current;
      if (!fresh && own && own.endsAtMs - Date.now() > spareMs) return Promise.resolve(own.key);
      asking.current ??= ask(workspace, open)
        .then(({ key, expiresAt }) => {
          held.current = { key, endsAtMs: Date.parse(expiresAt) };
          return key;
        })
        .finally(() => {
          asking.current = null;
        });
      return asking.current;
    },
    [workspace, open],
  );
}

async function ask(workspace: string, open: OpenPlayground) {
  const answer = await open(workspace, {});
  if (answer.ok) return answer.value;
  const { message, signedOut } = answer;
  throw new KeyRefused({ status: null, code: null, message, signedOut });
}
