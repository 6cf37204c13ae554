import { CircleStop, Download, ExternalLink, FileText } from 'lucide-react';
import Image from 'next/image';
import { signInAddress } from '#components/account/sign-in-again';
import { RefusalNote } from '#components/logs/refusal-note';
import type { Run } from '#components/playground/run';
import { RunFacts } from '#components/playground/run-facts';
import { hasPage } from '#components/shell/navigation';
import { buttonStyle } from '#components/ui/button';
import { type Attachment, dataUrl } from '#lib/console/playground/draft';
import { findRefusalHelp, mendingPage } from '#lib/console/show/refusal-help';

interface RunViewProps {
  run: Run;
  /** Slug. */
  workspace: string;
}

/** A question and its answer. */
export function RunView({ run, workspace }: RunViewProps) {
  const { question, answer, state, job } = run;
  const silent =
    !answer.text &&
    !answer.thought &&
    answer.pictures.length === 0 &&
    run.films.length + run.sounds.length === 0;
  return (
    <article className="grid min-w-0 gap-3">
      <div className="grid min-w-0 justify-self-end gap-2 rounded-lg bg-sunken px-3 py-2 sm:max-w-[85%]">
        {question.files.length > 0 ? <Files files={question.files} /> : null}
        {question.text ? (
          <p className="whitespace-pre-wrap leading-6 [overflow-wrap:anywhere]">{question.text}</p>
        ) : null}
      </div>
      <div className="grid min-w-0 gap-2.5">
        {answer.thought ? (
          <details className="rounded-md border bg-sunken px-3 py-2 text-muted">
            <summary className="cursor-pointer text-xs">Reasoning</summary>
            <p className="whitespace-pre-wrap pt-2 text-[0.8125rem] leading-5 [overflow-wrap:anywhere]">
              {answer.thought}
            </p>
          </details>
        ) : null}
        {answer.text ? (
          <p className="whitespace-pre-wrap leading-6 [overflow-wrap:anywhere]">{answer.text}</p>
        ) : null}
        <Pictures run={run} />
        <Films films={run.films} />
        <Sounds sounds={run.sounds} text={question.text} />
        {state === 'running' && silent ? (
          <p className="flex items-center gap-2 text-muted">
            <span aria-hidden className="size-1.5 rounded-full bg-accent motion-safe:animate-pulse" />
            {job
              ? `Working on it${job.progress === null ? '' : `, ${job.progress}%`}…`
              : 'Waiting for the first byte…'}
          </p>
        ) : null}
        {state === 'done' && silent && answer.links.length === 0 && !answer.fault && !answer.cut ? (
          <p className="text-muted">This answer contains nothing that can be shown here.</p>
        ) : null}
        {answer.cut ? (
          <p className="text-muted text-xs">The answer was cut off by its output budget.</p>
        ) : null}
        {state === 'stopped' ? (
          <p className="flex items-center gap-1.5 text-muted text-xs">
            <CircleStop aria-hidden className="size-3.5" />
            Stopped. You are charged for what the provider produced until then.
          </p>
        ) : null}
        <Trouble run={run} workspace={workspace} />
        <RunFacts run={run} workspace={workspace} />
      </div>
    </article>
  );
}

/** Files of a question, by name. */
function Files({ files }: { files: readonly Attachment[] }) {
  return (
    <ul className="flex min-w-0 flex-wrap gap-2">
      {files.map((file) => (
        <li key={`${file.name} ${file.base64.length}`} className="flex min-w-0 items-center gap-1.5 text-xs">
          {file.mediaType.startsWith('image/') ? (
            <Image
              src={dataUrl(file)}
              alt={file.name}
              unoptimized
              width={40}
              height={40}
              className="size-10 rounded-md border object-cover"
            />
          ) : (
            <>
              <FileText aria-hidden className="size-4 shrink-0" />
              <span dir="auto" className="min-w-0 truncate" title={file.name}>
                {file.name}
              </span>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function Pictures({ run: { answer, question } }: { run: Run }) {
  if (answer.pictures.length + answer.links.length === 0) return null;
  return (
    <div className="grid min-w-0 gap-3">
      {answer.pictures.map(({ source, partial, place }) => (
        <Image
          key={place}
          src={source}
          unoptimized
          width={1024}
          height={1024}
          alt={partial ? 'Not finished yet' : `Picture ${place + 1}: ${question.text.slice(0, 200)}`}
          className={`h-auto w-auto max-w-full rounded-lg border ${partial ? 'opacity-60' : ''}`}
        />
      ))}
      {answer.links.map((href) => (
        <a
          key={href}
          href={href}
          target="_blank"
          rel="noreferrer"
          className="inline-flex items-center gap-1.5 break-all underline underline-offset-2"
        >
          <ExternalLink aria-hidden className="size-3.5 shrink-0" />
          {href}
        </a>
      ))}
    </div>
  );
}

function Films({ films }: { films: readonly string[] }) {
  return films.map((film, at) => (
    <div key={film} className="grid justify-items-start gap-2">
      <video src={film} controls muted className="max-w-full rounded-lg border" />
      <a href={film} download={`video-${at + 1}.mp4`} className={buttonStyle({ size: 'small' })}>
        <Download />
        Download
      </a>
    </div>
  ));
}

/** @param text what is spoken. */
function Sounds({ sounds, text }: { sounds: readonly string[]; text: string }) {
  return sounds.map((sound) => (
    <div key={sound} className="flex min-w-0 flex-wrap items-center gap-2">
      <audio src={sound} controls aria-label="Speech" className="w-80 max-w-full">
        <track kind="captions" src={captionsOf(text)} />
      </audio>
      <a href={sound} download="speech.wav" className={buttonStyle({ size: 'small' })}>
        <Download />
        Download
      </a>
    </div>
  ));
}

/** All of a text, from the beginning to the end. */
function captionsOf(text: string): string {
  return `data:text/vtt,${encodeURIComponent(`WEBVTT\n\n00:00.000 --> 59:59.000\n${text.replace(/\n+/g, '\n')}`)}`;
}

/** The error of a call, with a link to the page where its cause can be fixed. */
function Trouble({ run: { refusal, answer }, workspace }: RunViewProps) {
  const told = refusal ?? (answer.fault && { status: null, signedOut: false, ...answer.fault });
  if (!told) return null;
  const found = findRefusalHelp(told.code);
  // Playground keys have no settings.
  const help = found?.mend === 'key' ? null : found;
  return (
    <div role="alert" className="grid min-w-0 gap-2">
      <div className="grid min-w-0 gap-1 rounded-lg bg-bad-soft px-4 py-2.5 text-bad">
        {told.status !== null || told.code ? (
          <p className="font-medium font-mono text-xs [overflow-wrap:anywhere]">
            {[told.status, told.code].filter(Boolean).join(' ')}
          </p>
        ) : null}
        <p className="leading-5 [overflow-wrap:anywhere]">
          {told.message}
          {told.signedOut ? (
            <>
              {' '}
              <a href={signInAddress()} className="font-medium underline underline-offset-2">
                Sign in again
              </a>
            </>
          ) : null}
        </p>
      </div>
      {help ? (
        <RefusalNote text={help.text} page={mendingPage(help, { workspace, key: null }, hasPage)} />
      ) : null}
    </div>
  );
}
