'use client';

import { ArrowUp, Paperclip, SlidersHorizontal, Square, X } from 'lucide-react';
import { type ClipboardEvent, type KeyboardEvent, useId, useRef, useState } from 'react';
import { Form } from '#components/form/form';
import { useTyped } from '#components/form/use-typed';
import { readFiles } from '#components/playground/read-files';
import { RecordButton } from '#components/playground/record-button';
import { type Making, SettingsFields } from '#components/playground/settings-fields';
import { Button } from '#components/ui/button';
import { classNames } from '#components/ui/class-names';
import { handFocusOn } from '#components/ui/hand-focus-on';
import { inputStyle } from '#components/ui/input';
import { Kbd } from '#components/ui/kbd';
import { useCommandKey } from '#components/ui/use-command-key';
import type { Attachment, Settings } from '#lib/console/playground/draft';

interface ComposerProps {
  /** What it starts with. */
  first: string;
  settings: Settings;
  makes: ReadonlySet<Making>;
  /** What to write. */
  hint: string;
  /** It can be run with a file and without text, and not without a file. */
  needsFile: boolean;
  /** Media types that may be attached; "": none. */
  accepted: string;
  running: boolean;
  /** Why no call can be made; null: calls are possible. */
  locked: string | null;
  /** The models that Run calls, each with its price as text; null: it has no simple price. */
  prices: readonly { readonly model: string; readonly price: string | null }[];
  onSettings(settings: Settings): void;
  onAsk(question: { text: string; files: readonly Attachment[] }): void;
  onStop(): void;
}

/** The form for a prompt with its attachments and settings. */
export function Composer(props: ComposerProps) {
  const { settings, makes, hint, needsFile, accepted, running, locked, prices } = props;
  const { onSettings, onAsk, onStop } = props;
  const [text, setText, box] = useTyped<HTMLTextAreaElement>(props.first);
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const [fault, setFault] = useState<string | null>(null);
  const [shown, show] = useState(false);
  const settingsId = useId();
  const chooser = useRef<HTMLInputElement>(null);
  const idle = !locked && !running;
  const isReady = (written: string) => idle && (needsFile ? files.length > 0 : written.trim() !== '');
  const hasSettings = [...makes].some((one) => one !== 'figures');

  async function add(chosen: readonly File[]) {
    const { files: read, refused } = await readFiles(chosen, accepted, files);
    // A transcript is made of one recording: the newest.
    if (needsFile) setFiles((held) => (read.length > 0 ? read.slice(-1) : held));
    else
      setFiles((held) => [
        ...held,
        ...read.filter((one) => !held.some(({ base64 }) => base64 === one.base64)),
      ]);
    setFault(refused);
  }

  function ask(written: string) {
    if (!isReady(written)) return;
    onAsk({ text: written.trim(), files });
    setText('');
    setFiles([]);
    setFault(null);
  }

  function press(event: KeyboardEvent) {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    ask(text);
  }

  function paste(event: ClipboardEvent) {
    const pasted = [...event.clipboardData.files];
    if (pasted.length === 0) return;
    event.preventDefault();
    void add(pasted);
  }

  return (
    <Form
      aria-label="Prompt"
      className="grid min-w-0 gap-2.5 rounded-lg border bg-surface p-3 shadow-xs sm:sticky sm:bottom-4"
      onSend={(data) => ask(String(data.get('message') ?? ''))}
    >
      <div id={settingsId} hidden={!shown || !hasSettings}>
        <SettingsFields settings={settings} makes={makes} onChange={onSettings} />
      </div>
      <textarea
        ref={box}
        name="message"
        aria-label="Message"
        value={text}
        rows={3}
        placeholder={locked ?? hint}
        disabled={locked !== null}
        className={classNames(inputStyle, 'h-auto max-h-64 resize-y border-transparent py-1.5 leading-6')}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={press}
        onPaste={paste}
      />
      {files.length > 0 ? (
        <ul className="flex min-w-0 flex-wrap gap-2">
          {files.map((file) => (
            <li
              key={`${file.name} ${file.base64.length}`}
              data-item
              className="flex min-w-0 items-center gap-1 rounded-md border bg-sunken py-0.5 pl-2 text-xs"
            >
              <span dir="auto" className="min-w-0 truncate" title={file.name}>
                {file.name}
              </span>
              <Button
                tone="quiet"
                size="smallIcon"
                aria-label={`Remove ${file.name}`}
                data-removes
                onClick={(event) => {
                  handFocusOn(event.currentTarget);
                  setFiles(files.filter((one) => one !== file));
                }}
              >
                <X />
              </Button>
            </li>
          ))}
        </ul>
      ) : null}
      {fault ? (
        <p role="alert" className="text-bad text-xs">
          {fault}
        </p>
      ) : null}
      <div className="flex flex-wrap items-center gap-2">
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          accept={accepted}
          onChange={(event) => {
            void add([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = '';
          }}
        />
        <Button
          size="small"
          tone="quiet"
          disabled={locked !== null || accepted === ''}
          title={accepted === '' ? 'This model and protocol do not accept files.' : undefined}
          onClick={() => chooser.current?.click()}
        >
          <Paperclip />
          Attach
        </Button>
        {needsFile && locked === null ? <RecordButton onRecorded={(file) => void add([file])} /> : null}
        {hasSettings ? (
          <Button
            size="small"
            tone="quiet"
            aria-expanded={shown}
            aria-controls={settingsId}
            onClick={() => show(!shown)}
          >
            <SlidersHorizontal />
            Settings
          </Button>
        ) : null}
        <ul
          aria-label="Prices"
          className="ml-auto grid min-w-0 justify-items-end text-muted text-xs leading-5 max-sm:order-last max-sm:w-full"
        >
          {prices.map(({ model, price }, at) => (
            <li
              key={`${model} ${at === 0 ? 'first' : 'second'}`}
              className="min-w-0 text-right [overflow-wrap:anywhere]"
            >
              {prices.length > 1 ? `${model}: ` : ''}
              {price ?? 'see Models for its price'}
            </li>
          ))}
        </ul>
        <span className="hidden items-center gap-1 text-muted text-xs sm:flex">
          <Kbd>{useCommandKey()}</Kbd>
          <Kbd>Enter</Kbd>
        </span>
        {running ? (
          <Button size="small" onClick={onStop} className="max-sm:ml-auto">
            <Square />
            Stop
          </Button>
        ) : (
          <Button
            size="small"
            tone="primary"
            type="submit"
            disabled={!isReady(text)}
            className="max-sm:ml-auto"
          >
            <ArrowUp />
            Run
          </Button>
        )}
      </div>
    </Form>
  );
}
