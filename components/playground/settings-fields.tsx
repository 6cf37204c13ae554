'use client';

import { type ReactNode, useId } from 'react';
import { Checkbox } from '#components/ui/checkbox';
import { classNames } from '#components/ui/class-names';
import { Input, inputStyle } from '#components/ui/input';
import type { Settings } from '#lib/console/playground/draft';

/** What a model produces. */
export type Making = 'text' | 'pictures' | 'videos' | 'speech' | 'figures';

interface SettingsFieldsProps {
  settings: Settings;
  makes: ReadonlySet<Making>;
  onChange(settings: Settings): void;
}

/** Settings for every question; an empty field is not sent. */
export function SettingsFields({ settings, makes, onChange }: SettingsFieldsProps) {
  const set = (change: Partial<Settings>) => onChange({ ...settings, ...change });
  const box = (
    name: 'temperature' | 'maxTokens' | 'size' | 'count' | 'seconds' | 'voice',
    label: string,
    hint: string,
  ) => (
    <Labelled label={label}>
      {(id) => (
        <Input
          id={id}
          value={settings[name]}
          placeholder={hint}
          inputMode={name === 'size' || name === 'voice' ? 'text' : 'decimal'}
          spellCheck={false}
          autoComplete="off"
          className="h-8 text-[0.8125rem]"
          onChange={(event) => set({ [name]: event.currentTarget.value })}
        />
      )}
    </Labelled>
  );
  return (
    <div className="grid gap-3 border-b pb-3">
      {makes.has('text') ? (
        <Labelled label="System message">
          {(id) => (
            <textarea
              id={id}
              value={settings.system}
              rows={2}
              placeholder="You are…"
              className={classNames(inputStyle, 'h-auto resize-y py-1.5 text-[0.8125rem] leading-5')}
              onChange={(event) => set({ system: event.currentTarget.value })}
            />
          )}
        </Labelled>
      ) : null}
      <div className="grid grid-cols-2 items-end gap-3 sm:grid-cols-4">
        {makes.has('text') ? box('temperature', 'Temperature', 'default') : null}
        {makes.has('text') ? box('maxTokens', 'Max output tokens', 'default') : null}
        {makes.has('pictures') || makes.has('videos') ? box('size', 'Size', '1024x1024') : null}
        {makes.has('pictures') ? box('count', 'Pictures', '1') : null}
        {makes.has('videos') ? box('seconds', 'Seconds', '4') : null}
        {makes.has('speech') ? box('voice', 'Voice', 'alloy') : null}
        {makes.has('text') || makes.has('pictures') ? (
          <Checkbox checked={settings.stream} onChange={(stream) => set({ stream })}>
            Stream
          </Checkbox>
        ) : null}
      </div>
    </div>
  );
}

function Labelled({ label, children }: { label: string; children(id: string): ReactNode }) {
  const id = useId();
  return (
    <div className="grid min-w-0 gap-1">
      <label htmlFor={id} className="text-muted text-xs">
        {label}
      </label>
      {children(id)}
    </div>
  );
}
