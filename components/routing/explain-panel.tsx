'use client';

import dynamic from 'next/dynamic';
import { useEffect, useState } from 'react';
import { orNoAnswer } from '#components/form/answer';
import { Form } from '#components/form/form';
import { useTyped } from '#components/form/use-typed';
import type { Explained, RoutingActions } from '#components/routing/routing-actions';
import { Button } from '#components/ui/button';
import { labelStyle } from '#components/ui/field';
import { ToggleGroup } from '#components/ui/toggle-group';
import { readPasted } from '#lib/gateway/routing/pure/policy/pasted';
import type { DraftPolicy } from '#lib/gateway/routing/pure/policy/read';

/** Loaded with the first explanation. */
const Explanation = dynamic(() => import('#components/routing/explanation').then((all) => all.Explanation));

interface ExplainPanelProps {
  workspace: string;
  /** "default", or the model whose policy is edited. */
  place: string;
  /** The unpublished changes; null: there are none. */
  draft: DraftPolicy | null;
  /** The model that is explained at first. */
  example: string;
  explain: RoutingActions['explain'];
}

const waitMs = 350;

/** Explains where a call would go and why not elsewhere, for a model or a pasted request. */
export function ExplainPanel({ workspace, place, draft, example, explain }: ExplainPanelProps) {
  const [text, setText, box] = useTyped<HTMLTextAreaElement>('');
  /** A new object on every submit, so that a request without an answer is sent again. */
  const [asked, setAsked] = useState({ request: example });
  const [by, setBy] = useState<'draft' | 'published'>('draft');
  const [found, setFound] = useState<Explained | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [pending, setPending] = useState(false);
  const policy = by === 'draft' ? draft : null;

  // Runs again when the draft changes, to show the effect of each edit.
  useEffect(() => {
    const { model, path, body, fault: unreadable } = readPasted(asked.request);
    if (unreadable || asked.request.trim() === '') {
      setFault(unreadable);
      setFound(null);
      return;
    }
    let over = false;
    setPending(true);
    const timer = setTimeout(async () => {
      const input = {
        ...(model === null ? {} : { model }),
        ...(path === null ? {} : { path }),
        ...(body === null ? {} : { body }),
        ...(policy ? { policy, policyModel: place } : {}),
      };
      const answer = await orNoAnswer(explain(workspace, input));
      if (over) return;
      setPending(false);
      setFault(answer.ok ? null : inDraft(answer));
      setFound(answer.ok ? answer.value : null);
    }, waitMs);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [asked, policy, place, workspace, explain]);

  function submit(data: FormData) {
    const pasted = String(data.get('request') ?? '');
    setAsked({ request: pasted.trim() === '' ? example : pasted });
  }

  return (
    <section
      aria-label="Explain a request"
      className="min-w-0 rounded-lg border bg-surface xl:sticky xl:top-4"
    >
      <Form onSend={submit} className="grid gap-2.5 p-4">
        <label className={labelStyle} htmlFor="pasted-request">
          Where would a request go?
        </label>
        <textarea
          id="pasted-request"
          ref={box}
          name="request"
          aria-describedby="pasted-request-hint"
          rows={text.includes('\n') || text.length > 60 ? 7 : 3}
          spellCheck={false}
          placeholder={example}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey))
              event.currentTarget.form?.requestSubmit();
          }}
          className="w-full resize-y rounded-md border border-line-strong/70 bg-surface px-3 py-2 font-mono text-xs leading-5 placeholder:text-muted"
        />
        <p id="pasted-request-hint" className="text-muted text-xs leading-4">
          A model or alias, a JSON body, or a complete request: its path followed by the body, or a curl
          command.
        </p>
        <div className="flex flex-wrap items-center justify-between gap-2">
          {draft ? (
            <ToggleGroup<'draft' | 'published'>
              label="Policy"
              value={by}
              options={[
                { value: 'draft', label: 'Draft' },
                { value: 'published', label: 'In effect' },
              ]}
              onChange={setBy}
            />
          ) : (
            <span className="text-muted text-xs">With the policy in effect</span>
          )}
          <Button type="submit" size="small" disabled={pending}>
            {pending ? 'Explaining…' : 'Explain'}
          </Button>
        </div>
      </Form>
      <div aria-live="polite">
        {fault ? <p className="border-t px-4 py-3 text-[0.8125rem] text-bad leading-5">{fault}</p> : null}
        {found ? <Explanation found={found} /> : null}
      </div>
    </section>
  );
}

/** An invalid draft cannot be explained. */
function inDraft({ message, field }: { message: string; field: string | null }): string {
  return field?.split('.')[0] === 'policy' ? `The draft has an error: ${message}` : message;
}
