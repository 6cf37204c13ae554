'use client';

import { Check, CircleAlert } from 'lucide-react';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { Step } from '#components/first-run/step';
import type { FormAnswer } from '#components/form/answer';
import type { SnippetFacts } from '#components/keys/snippets';
import { Section } from '#components/section';
import { CodeBlock } from '#components/ui/code-block';
import { later } from '#components/ui/on-demand';
import type { FirstRunState } from '#lib/console/first-run';

const Tabs = later(() => import('#components/ui/tabs').then((all) => all.Tabs));

/** How often it checks for the first call while the page is visible, ms. */
const lookMs = 2_000;

interface FirstRunPanelProps {
  /** Slug. */
  workspace: string;
  first: FirstRunState;
  read(workspace: string): Promise<FormAnswer<FirstRunState>>;
  facts: SnippetFacts;
  /** How to get funds, if there are none. */
  funds: ReactNode;
  createKey: ReactNode;
}

/** The steps up to the first answered call; completed ones are checked off automatically. */
export function FirstRunPanel({ workspace, first, read, facts, funds, createKey }: FirstRunPanelProps) {
  const state = useLooking(workspace, first, read);
  return (
    <Section title="Get started" note={state.answered ? 'Done' : 'Three steps'}>
      <ol className="divide-y">
        <Step number={1} title="Funds" done={state.funds !== null}>
          {state.funds === null ? funds : `${state.funds} available.`}
        </Step>
        <Step number={2} title="API key" done={state.keys}>
          {state.keys ? (
            <>
              You have one. <TextLink href={`/${workspace}/keys`}>All keys</TextLink>
            </>
          ) : (
            <div className="grid justify-items-start gap-3">
              <p>Your programs use it to call the gateway. It is shown only once.</p>
              {createKey}
            </div>
          )}
        </Step>
        <Step number={3} title="Call" done={state.answered}>
          {state.answered ? (
            'Your other programs can call it the same way.'
          ) : (
            <div className="grid min-w-0 gap-3">
              <p>
                Keep your SDK; change only its base URL and key.{' '}
                <code className="font-mono">GATEWAY_API_KEY</code> contains the key.
              </p>
              <Suspense fallback={<CodeBlock code={facts.snippets[0]?.code ?? ''} what="example" />}>
                <Tabs
                  label="Make a call"
                  tabs={facts.snippets.map(({ name, label, code }) => ({
                    value: name,
                    label,
                    content: <CodeBlock code={code} what={`${label} example`} />,
                  }))}
                />
              </Suspense>
            </div>
          )}
        </Step>
        <li className="px-4 py-4" aria-live="polite">
          <Outcome workspace={workspace} state={state} />
        </li>
      </ol>
    </Section>
  );
}

/** The result of the first answered call, or of the latest call before it. */
function Outcome({ workspace, state }: { workspace: string; state: FirstRunState }) {
  const { answered, call } = state;
  const link = call ? <TextLink href={`/${workspace}/logs/${call.id}`}>View in the log</TextLink> : null;
  if (answered) {
    return (
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 rounded-md bg-good-soft px-3 py-2 text-good leading-5">
        <Check aria-hidden className="size-4 shrink-0" />
        <span className="font-medium">Your first call succeeded</span>
        {call ? <span className="[overflow-wrap:anywhere]">{call.facts}</span> : null}
        {link}
      </p>
    );
  }
  return (
    <div className="grid gap-2">
      <p className="flex items-center gap-2.5 text-muted leading-5">
        <span aria-hidden className="relative grid size-4 place-items-center">
          <span className="absolute size-2.5 rounded-full bg-accent opacity-60 motion-safe:animate-ping" />
          <span className="size-2 rounded-full bg-accent" />
        </span>
        Waiting for your first call…
      </p>
      {call ? (
        <p className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2 rounded-md bg-bad-soft px-3 py-2 text-bad leading-5">
          <CircleAlert aria-hidden className="mt-0.5 size-4" />
          <span className="[overflow-wrap:anywhere]">
            The latest call was refused: <strong className="font-medium">{call.facts}</strong>. {call.help}{' '}
            {link}
          </span>
        </p>
      ) : (
        <p className="text-muted text-xs leading-5">
          It appears here within 2 seconds. A call without one of this workspace’s keys is not logged; its
          response says what is wrong.
        </p>
      )}
    </div>
  );
}

function TextLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Link href={href} className="font-medium underline underline-offset-2">
      {children}
    </Link>
  );
}

/** Checks every 2 s while the page is visible and no call has been answered. */
function useLooking(
  workspace: string,
  first: FirstRunState,
  read: FirstRunPanelProps['read'],
): FirstRunState {
  const router = useRouter();
  const [state, setState] = useState(first);
  const wasAnswered = useRef(first.answered);
  // A key created on this page, or added funds, are in the next state that the page passes.
  useEffect(() => setState(first), [first]);
  useEffect(() => {
    if (state.answered) return;
    let ended = false;
    let timer: ReturnType<typeof setTimeout>;
    const look = async () => {
      if (document.visibilityState === 'visible') {
        const answer = await read(workspace).catch(() => null);
        if (ended) return;
        if (answer?.ok) setState(answer.value);
        if (answer?.ok === false && answer.signedOut) return;
      }
      timer = setTimeout(() => void look(), lookMs);
    };
    timer = setTimeout(() => void look(), lookMs);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [workspace, read, state.answered]);
  useEffect(() => {
    if (!state.answered || wasAnswered.current) return;
    wasAnswered.current = true;
    // The balance beside the page has changed, too.
    router.refresh();
  }, [state.answered, router]);
  return state;
}
