'use client';

import { useEffect, useRef, useState } from 'react';
import type { Run } from '#components/playground/run';
import { type GetKey, type Hearer, KeyRefused, runCall } from '#components/playground/run-call';
import type { PlaygroundSeed } from '#lib/console/content/seed';
import { addPieces, emptyAnswer, finishedPictures } from '#lib/console/playground/answers/read';
import type { PlaygroundModel } from '#lib/console/playground/choices';
import type { Attachment, PlaygroundFamily, Settings, Turn } from '#lib/console/playground/draft';
import type { CallFigures } from '#lib/console/playground/figures';
import { requestOf, talks } from '#lib/console/playground/request';

interface Question {
  readonly text: string;
  readonly files: readonly Attachment[];
}

export interface Pane {
  readonly runs: readonly Run[];
  readonly running: boolean;
  ask(question: Question): void;
  stop(): void;
  /** Sends the last question again. */
  repeat(): void;
  clear(): void;
}

interface PaneOptions {
  readonly workspace: string;
  readonly model: PlaygroundModel | null;
  readonly family: PlaygroundFamily;
  readonly settings: Settings;
  readonly getKey: GetKey;
  /** A conversation that came before, which is sent with every question. */
  readonly earlier: PlaygroundSeed['turns'];
}

/** The conversation with one model. */
export function usePane({ workspace, model, family, settings, getKey, earlier }: PaneOptions): Pane {
  const [runs, setRuns] = useState<readonly Run[]>([]);
  const abort = useRef<AbortController | null>(null);
  /** Object URLs, which keep their files in memory until they are revoked. */
  const addresses = useRef<string[]>([]);
  useEffect(
    () => () => {
      abort.current?.abort();
      for (const address of addresses.current) URL.revokeObjectURL(address);
    },
    [],
  );

  function held(blob: Blob): string {
    const address = URL.createObjectURL(blob);
    addresses.current.push(address);
    return address;
  }

  function change(id: string, to: (run: Run) => Partial<Run>) {
    setRuns((all) => all.map((run) => (run.id === id ? { ...run, ...to(run) } : run)));
  }

  function begin(question: Question, before: readonly Run[]) {
    if (!model) return;
    const turns: Turn[] = [
      ...(talks(family) ? earlier.map(turnOf) : []),
      ...turnsOf(before, family),
      { role: 'user', ...question },
    ];
    const request = requestOf(family, { model: model.id, output: model.output, turns, settings });
    const id = crypto.randomUUID();
    const run: Run = {
      id,
      question,
      request,
      state: 'running',
      answer: emptyAnswer,
      head: null,
      firstByteMs: null,
      job: null,
      films: [],
      sounds: [],
      refusal: null,
      figures: null,
    };
    setRuns((all) => [...all.slice(0, before.length), run]);
    const controller = new AbortController();
    abort.current = controller;
    void follow(run, controller.signal);
  }

  async function follow({ id, request }: Run, signal: AbortSignal) {
    const beganMs = performance.now();
    let requestId = '';
    const hear: Hearer = {
      onHead: (head) => {
        requestId = head.requestId;
        change(id, () => ({ head }));
      },
      onFirstByte: () => change(id, () => ({ firstByteMs: performance.now() - beganMs })),
      onPieces: (read) =>
        change(id, ({ answer }) => ({ answer: addPieces(answer, read(finishedPictures(answer))) })),
      onJob: (job) => change(id, () => ({ job })),
      onFilm: (blob) => {
        const film = held(blob);
        change(id, (run) => ({ films: [...run.films, film] }));
      },
      onSound: (blob) => {
        const sound = held(blob);
        change(id, (run) => ({ sounds: [...run.sounds, sound] }));
      },
    };
    try {
      const refusal = await runCall(request, getKey, hear, signal);
      change(id, () => ({ refusal, state: refusal ? 'refused' : 'done' }));
    } catch (error) {
      change(id, ({ answer }) => endOf(error, signal, answer.fault !== null));
    }
    if (!requestId) return;
    const address = `/${workspace}/playground/calls/${requestId}`;
    // The page is not refreshed, although its balance is now outdated: the sidebar updates the balance on its
    // own, and a reload would lose the answers.
    await readFigures(address, (figures) => change(id, () => ({ figures })));
  }

  return {
    runs,
    running: runs.at(-1)?.state === 'running',
    ask: (question) => begin(question, runs),
    stop: () => abort.current?.abort(),
    repeat: () => {
      const last = runs.at(-1);
      if (last) begin(last.question, runs.slice(0, -1));
    },
    clear: () => {
      abort.current?.abort();
      setRuns([]);
    },
  };
}

/** Why a call ended early. */
function endOf(error: unknown, signal: AbortSignal, shown: boolean): Partial<Run> {
  if (signal.aborted) return { state: 'stopped' };
  if (error instanceof KeyRefused) return { state: 'refused', refusal: error.refusal };
  const lost = 'The connection to the gateway was lost before the answer had ended.';
  const message = error instanceof Error && error.name === 'Error' ? error.message : lost;
  return {
    state: 'broken',
    ...(shown ? {} : { refusal: { status: null, code: null, message, signedOut: false } }),
  };
}

function turnOf({ role, text }: PlaygroundSeed['turns'][number]): Turn {
  return role === 'user' ? { role, text, files: [] } : { role, text };
}

/** The history sent with the next question; only conversations have one. */
function turnsOf(runs: readonly Run[], family: PlaygroundFamily): Turn[] {
  if (!talks(family)) return [];
  return runs.flatMap(({ question, answer }): Turn[] =>
    answer.text === ''
      ? []
      : [
          { role: 'user', ...question },
          { role: 'assistant', text: answer.text },
        ],
  );
}

const firstWaitMs = 400;
const mostWaitMs = 8_000;
const looks = 14;

/** Polls the log until the call is there and charged: a call within 2 seconds, a job when it has ended. */
async function readFigures(address: string, tell: (figures: CallFigures) => void): Promise<void> {
  let waitMs = firstWaitMs;
  for (let look = 0; look < looks; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    const answer = await fetch(address, { cache: 'no-store' }).catch(() => null);
    if (answer?.status === 401 || answer?.redirected) return;
    if (answer?.ok) {
      const figures: CallFigures | null = await answer.json();
      if (figures) tell(figures);
      if (figures && figures.cost !== null) break;
    }
    waitMs = Math.min(waitMs * 1.6, mostWaitMs);
  }
}
