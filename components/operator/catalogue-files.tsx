'use client';

import { useRouter } from 'next/navigation';
import { type ChangeEvent, useId, useState, useTransition } from 'react';
import { type FormAnswer, orNoAnswer } from '#components/form/answer';
import { CatalogueChanges, type Comparison } from '#components/operator/catalogue-changes';
import { Section } from '#components/section';

interface NamedText {
  readonly name: string;
  readonly text: string;
}

interface CatalogueFilesProps {
  compare(input: { files: readonly NamedText[] }): Promise<FormAnswer<Comparison>>;
  apply(input: { files: readonly NamedText[]; prune: boolean }): Promise<FormAnswer<unknown>>;
}

/** Maximum for one request of the console. */
const mostBytes = 900_000;

/** Uploads catalogue files and compares them before they are applied. */
export function CatalogueFiles({ compare, apply }: CatalogueFilesProps) {
  const router = useRouter();
  const id = useId();
  const [files, setFiles] = useState<readonly NamedText[]>([]);
  const [answer, setAnswer] = useState<FormAnswer<Comparison> | null>(null);
  const [pending, startTransition] = useTransition();

  function read(texts: readonly NamedText[]) {
    startTransition(async () => {
      setAnswer(await orNoAnswer(compare({ files: texts })));
      setFiles(texts);
    });
  }

  function choose(event: ChangeEvent<HTMLInputElement>) {
    const chosen = [...(event.target.files ?? [])];
    if (chosen.length === 0) return;
    if (chosen.reduce((sum, { size }) => sum + size, 0) > mostBytes) {
      const message =
        'These files exceed 900 kB in total. Apply them with "gateway catalogue apply DIRECTORY".';
      setAnswer({ ok: false, message, field: null, signedOut: false });
      return;
    }
    startTransition(async () => {
      read(await Promise.all(chosen.map(async (file) => ({ name: file.name, text: await file.text() }))));
    });
  }

  return (
    <Section title="Your files" note="YAML or JSON, compared before they are applied">
      <div className="grid gap-2 px-4 py-4">
        <label htmlFor={id} className="font-medium text-[0.8125rem]">
          Catalogue files
        </label>
        <input
          id={id}
          type="file"
          multiple
          accept=".yaml,.yml,.json"
          onChange={choose}
          className="w-full min-w-0 text-[0.8125rem] text-muted file:mr-3 file:h-8 file:cursor-pointer file:rounded-md file:border file:border-line-strong/60 file:bg-surface file:px-2.5 file:font-medium file:text-ink"
        />
        <p aria-live="polite" className="text-muted text-xs empty:hidden">
          {pending ? 'Comparing…' : ''}
        </p>
      </div>
      {answer === null ? null : answer.ok ? (
        <div className="border-t">
          <CatalogueChanges
            key={files.map(({ text }) => text).join()}
            comparison={answer.value}
            apply={({ prune }) => apply({ files, prune })}
            onApplied={() => {
              read(files);
              router.refresh();
            }}
          />
        </div>
      ) : (
        <p role="alert" className="border-t px-4 py-3 text-bad leading-5 [overflow-wrap:anywhere]">
          {answer.message}
        </p>
      )}
    </Section>
  );
}
