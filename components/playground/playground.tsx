'use client';

import { Columns2 } from 'lucide-react';
import { useQueryState } from 'nuqs';
import { type ReactNode, useEffect, useState } from 'react';
import { PageHead } from '#components/page-head';
import { Composer } from '#components/playground/composer';
import { PaneView } from '#components/playground/pane-view';
import { takeSeed } from '#components/playground/seed';
import type { Making } from '#components/playground/settings-fields';
import { type OpenPlayground, useKey } from '#components/playground/use-key';
import { usePane } from '#components/playground/use-pane';
import { Button } from '#components/ui/button';
import type { PlaygroundSeed } from '#lib/console/content/seed';
import type { PlaygroundModel } from '#lib/console/playground/choices';
import type { Example } from '#lib/console/playground/code';
import { firstSettings, type PlaygroundFamily } from '#lib/console/playground/draft';
import { acceptedFiles, comparing, makesVideos, talks } from '#lib/console/playground/request';
import { showCount } from '#lib/core/show-money';

const none: PlaygroundSeed['turns'] = [];

interface PlaygroundProps {
  /** Slug. */
  workspace: string;
  /** The callable models; at least one. */
  models: readonly PlaygroundModel[];
  familyNames: Readonly<Record<PlaygroundFamily, string>>;
  examples: readonly Example[];
  /** Why no call can be made; null: calls are possible. */
  locked: string | null;
  open: OpenPlayground;
  children: ReactNode;
}

/** One model, or two side by side with the same prompt. */
export function Playground(props: PlaygroundProps) {
  const { workspace, models, familyNames, examples, locked, open, children } = props;
  const [settings, setSettings] = useState(firstSettings);
  const [seed, setSeed] = useState<PlaygroundSeed | null>(null);
  useEffect(() => {
    const left = takeSeed();
    if (left === null) return;
    setSeed(left);
    setSettings({ ...firstSettings, ...left.settings });
  }, []);
  const getKey = useKey(workspace, open);
  const first = useChoice('', models, usualModel(models));
  // No second model is preselected, because it costs money too.
  const second = useChoice('2', models, null);
  const beside = second.asked === null ? null : second;
  const common = { workspace, settings, getKey, earlier: seed?.turns ?? none };
  const pane = usePane({ ...common, model: first.model, family: first.family });
  const otherPane = usePane({ ...common, model: beside?.model ?? null, family: second.family });
  const chosen = [first, ...(beside ? [beside] : [])].flatMap(({ model, family }) =>
    model ? [{ model, family }] : [],
  );
  const panes = beside ? [pane, otherPane] : [pane];

  const shared = { workspace, models, familyNames, examples };
  return (
    <>
      <PageHead
        help="playground"
        title="Playground"
        action={
          beside ? null : (
            <Button onClick={() => second.choose('')}>
              <Columns2 />
              Compare
            </Button>
          )
        }
      >
        {children}
      </PageHead>
      <div className={beside ? 'grid min-w-0 gap-4 lg:grid-cols-2' : 'grid min-w-0'}>
        <PaneView
          {...shared}
          label="Model"
          pane={pane}
          model={first.model}
          family={first.family}
          onModel={first.choose}
          onFamily={first.speak}
        />
        {beside ? (
          <PaneView
            {...shared}
            label="Second model"
            pane={otherPane}
            model={beside.model}
            family={beside.family}
            onModel={beside.choose}
            onFamily={beside.speak}
            onRemove={() => {
              otherPane.clear();
              beside.choose(null);
            }}
          />
        ) : null}
      </div>
      {seed && seed.turns.length > 0 ? (
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-muted text-xs leading-5">
          The {showCount(seed.turns.length)} earlier messages of the call are sent before your question.
          <Button size="small" tone="quiet" onClick={() => setSeed({ ...seed, turns: none })}>
            Leave them out
          </Button>
        </p>
      ) : null}
      <Composer
        key={seed === null ? 'empty' : 'seeded'}
        first={seed?.text ?? ''}
        settings={settings}
        makes={new Set(chosen.map(makingOf))}
        hint={hints[first.family] ?? 'Ask something…'}
        needsFile={chosen.some(({ family }) => family === 'transcriptions')}
        accepted={commonTypes(chosen.map(({ model, family }) => acceptedFiles(family, model.input)))}
        running={panes.some(({ running }) => running)}
        locked={locked}
        prices={chosen.map(({ model }) => ({ model: model.id, price: model.price }))}
        onSettings={setSettings}
        onAsk={(question) => {
          for (const one of panes) one.ask(question);
        }}
        onStop={() => {
          for (const one of panes) one.stop();
        }}
      />
    </>
  );
}

/** What to write, for protocols without conversations. */
const hints: Partial<Record<PlaygroundFamily, string>> = {
  images: 'Describe a picture…',
  videos: 'Describe a video…',
  speech: 'Write what to say…',
  transcriptions: 'Attach or record audio; names and words that occur in it go here…',
  embeddings: 'Write two or more texts to compare, one on each line…',
  rerank: 'Write a query, and on the next lines the documents to rank…',
  moderations: 'Write text to check…',
};

function usualModel(models: readonly PlaygroundModel[]): PlaygroundModel | null {
  return models.find(({ families }) => families.some(talks)) ?? models[0] ?? null;
}

/** The model and protocol in the URL. @param usual the model if the URL does not name an existing one. */
function useChoice(suffix: string, models: readonly PlaygroundModel[], usual: PlaygroundModel | null) {
  const [asked, setModel] = useQueryState(`model${suffix}`);
  const [spoken, setFamily] = useQueryState(`protocol${suffix}`);
  const model = models.find(({ id }) => id === asked) ?? usual;
  const family = model?.families.find((one) => one === spoken) ?? model?.families[0] ?? 'chat';
  return {
    asked,
    model,
    family,
    choose: (id: string | null) => {
      void setModel(id);
      void setFamily(null);
    },
    speak: (name: string) => void setFamily(name),
  };
}

interface Chosen {
  readonly model: PlaygroundModel;
  readonly family: PlaygroundFamily;
}

function makingOf({ model, family }: Chosen): Making {
  if (family === 'images') return 'pictures';
  if (family === 'speech') return 'speech';
  if (family === 'transcriptions' || comparing.has(family)) return 'figures';
  return family === 'videos' || (family === 'generate-content' && makesVideos(model.output))
    ? 'videos'
    : 'text';
}

/** The types that all chosen models accept. */
function commonTypes(lists: readonly string[]): string {
  const [first = '', ...others] = lists.map((list) => list.split(','));
  return [...first].filter((type) => others.every((types) => types.includes(type))).join(',');
}
