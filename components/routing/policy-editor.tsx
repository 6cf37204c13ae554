'use client';

import { useRouter } from 'next/navigation';
import { Suspense, useEffect, useState, useTransition } from 'react';
import { SignInAgain } from '#components/account/sign-in-again';
import { orNoAnswer } from '#components/form/answer';
import { ExplainPanel } from '#components/routing/explain-panel';
import { type OpenedPolicy, usePolicyDraft } from '#components/routing/policy-draft';
import { PolicyForm } from '#components/routing/policy-form';
import { PolicyFormProvider } from '#components/routing/policy-form-context';
import type { Review, RoutingActions } from '#components/routing/routing-actions';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { later } from '#components/ui/on-demand';
import { toast } from '#components/ui/toaster';
import { ToggleGroup } from '#components/ui/toggle-group';
import { type DraftPolicy, withKey } from '#lib/gateway/routing/pure/policy/read';

const PolicyJson = later(() => import('#components/routing/policy-json').then((all) => all.PolicyJson));
const PublishDialog = later(() =>
  import('#components/routing/publish-dialog').then((all) => all.PublishDialog),
);

interface PolicyEditorProps {
  workspace: string;
  /** The model that the policy is for; null: the default policy. */
  model: string | null;
  opened: OpenedPolicy;
  /** The default policy, if this is a model's policy. */
  inherited: DraftPolicy | null;
  names: { readonly models: readonly string[]; readonly providers: readonly string[] };
  /** What the panel explains at first. */
  example: string;
  actions: RoutingActions;
  /** Why nothing can be changed; null: it can. */
  locked: string | null;
}

/** A review with the draft and the version it is for. */
type Reviewed = Review & { readonly policy: DraftPolicy; readonly version: number };

const reviewAfterMs = 300;
/** Delay before a failed review is retried: nothing can be published without one. */
const reviewAgainMs = 3_000;

/** The draft of one policy, as a form or JSON, with its errors and its effect on a call. */
export function PolicyEditor(props: PolicyEditorProps) {
  const { workspace, model, opened, inherited, names, example, actions, locked } = props;
  const router = useRouter();
  const place = model ?? 'default';
  const draft = usePolicyDraft(opened, `${workspace} ${place}`);
  const { policy, start, dirty } = draft;
  const [view, setView] = useState<'form' | 'json'>('form');
  const [readable, setReadable] = useState(true);
  const [review, setReview] = useState<Reviewed | null>(null);
  const [asking, setAsking] = useState(false);
  // Mounted on first use, and kept for its closing animation.
  const [dialog, keep] = useState(false);
  if (asking && !dialog) keep(true);
  const [signedOut, setSignedOut] = useState(false);
  const [pending, startTransition] = useTransition();
  const differs = dirty || opened.draft !== null;

  useEffect(() => {
    let over = false;
    const look = async () => {
      const answer = await actions.review(workspace, { model: place, policy }).catch(() => null);
      if (over) return;
      if (answer?.ok) setReview({ ...answer.value, policy, version: opened.version });
      if (answer === null) timer = setTimeout(() => void look(), reviewAgainMs);
    };
    let timer = setTimeout(() => void look(), reviewAfterMs);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [actions, workspace, place, policy, opened.version]);

  /** Handles an outdated page or an expired session; both keep the draft. */
  async function refused(answer: { message: string; field: string | null; signedOut: boolean }) {
    setAsking(false);
    if (answer.signedOut) return setSignedOut(true);
    if (answer.field !== 'base' && answer.field !== 'revision') return toast.error(answer.message);
    const now = await orNoAnswer(actions.open(workspace, { model: place }));
    if (!now.ok) return toast.error(now.message);
    draft.adopt(now.value, answer.message);
    router.refresh();
  }

  function save() {
    startTransition(async () => {
      const { version, revision } = start;
      const input = { model: place, policy, base: version, revision };
      const answer = await orNoAnswer(actions.save(workspace, input));
      if (!answer.ok) return void (await refused(answer));
      draft.settled(version, answer.value.revision);
      toast.success('Draft saved', { description: 'It does not affect calls until you publish it.' });
      router.refresh();
    });
  }

  function discard() {
    startTransition(async () => {
      if (opened.draft) {
        const input = { model: place, revision: start.revision };
        const answer = await orNoAnswer(actions.discard(workspace, input));
        if (!answer.ok) return void (await refused(answer));
      }
      draft.reset({ ...opened, draft: null });
      router.refresh();
    });
  }

  function publish() {
    startTransition(async () => {
      const { version: base, revision } = start;
      const answer = await orNoAnswer(actions.publish(workspace, { model: place, policy, base, revision }));
      if (!answer.ok) return void (await refused(answer));
      setAsking(false);
      draft.settled(answer.value.version, 0);
      toast.success(`Version ${answer.value.version} is in effect`, {
        description: 'It applies within 2 seconds.',
      });
      router.refresh();
    });
  }

  const faults = review?.faults ?? [];
  const isCurrent = review?.policy === policy && review.version === opened.version;
  const ready = isCurrent && readable && faults.length === 0 && review.changes.length > 0;
  return (
    <div className="grid min-w-0 items-start gap-5 xl:grid-cols-[minmax(0,1fr)_23rem]">
      <section aria-label="Policy" className="min-w-0 rounded-lg border bg-surface">
        <header className="sticky top-0 z-10 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-t-lg border-b bg-surface px-4 py-2.5">
          <ToggleGroup
            label="View"
            value={view}
            options={[
              { value: 'form', label: 'Form' },
              { value: 'json', label: 'JSON' },
            ]}
            onChange={(next) => {
              if (readable) setView(next);
              else toast.error('Invalid JSON. Fix or undo your edit before you go back to the form.');
            }}
          />
          <span className="flex flex-1 flex-wrap items-center gap-2 text-muted text-xs" role="status">
            {opened.version > 0 ? `Version ${opened.version} in effect` : 'No policy'}
            {dirty ? <Badge tone="warn">Unsaved changes</Badge> : null}
            {!dirty && opened.draft ? (
              <Badge tone="info">Draft of {opened.draft.savedBy ?? 'a program'}</Badge>
            ) : null}
          </span>
          {locked ? (
            <span className="text-muted text-xs">{locked}</span>
          ) : (
            <span className="flex flex-wrap gap-2">
              <Button size="small" tone="quiet" onClick={discard} disabled={!differs || pending}>
                Discard
              </Button>
              <Button size="small" onClick={save} disabled={!dirty || !readable || pending}>
                Save draft
              </Button>
              <Button
                size="small"
                tone="primary"
                onClick={() => setAsking(true)}
                disabled={!differs || !ready || pending}
              >
                Publish…
              </Button>
            </span>
          )}
        </header>
        {draft.notice || signedOut ? (
          <div
            role="alert"
            className="flex flex-wrap items-center gap-3 border-b bg-warn-soft px-4 py-2.5 text-[0.8125rem] text-warn leading-5"
          >
            <p className="min-w-0 flex-1 basis-60">
              {signedOut ? (
                <>
                  Your session has ended. Your changes are kept in this browser.
                  <SignInAgain />
                </>
              ) : (
                draft.notice
              )}
            </p>
            {signedOut ? null : (
              <Button size="small" tone="quiet" onClick={draft.dismiss}>
                Got it
              </Button>
            )}
          </div>
        ) : null}
        <PolicyFormProvider
          policy={policy}
          inherited={inherited}
          models={names.models}
          providers={names.providers}
          locked={locked !== null}
          faults={faults}
          set={(key, value) => draft.setPolicy(withKey(policy, key, value))}
        >
          {view === 'form' ? (
            <PolicyForm model={model} />
          ) : (
            <Suspense fallback={null}>
              <PolicyJson
                policy={policy}
                faults={faults}
                locked={locked !== null}
                onChange={draft.setPolicy}
                onReadable={setReadable}
              />
            </Suspense>
          )}
        </PolicyFormProvider>
      </section>
      <ExplainPanel
        workspace={workspace}
        place={place}
        draft={differs ? policy : null}
        example={example}
        explain={actions.explain}
      />
      {dialog ? (
        <Suspense fallback={null}>
          <PublishDialog
            open={asking}
            onOpenChange={setAsking}
            version={start.version + 1}
            model={model}
            changes={review?.changes ?? []}
            pending={pending}
            onPublish={publish}
          />
        </Suspense>
      ) : null}
    </div>
  );
}
