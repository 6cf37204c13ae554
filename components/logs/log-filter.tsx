import { useShown } from '#components/form/use-shown';
import { classNames } from '#components/ui/class-names';
import { Input } from '#components/ui/input';
import type { Option } from '#components/ui/name-box-frame';
import { NamePicker } from '#components/ui/name-picker';
import { NativeSelect } from '#components/ui/native-select';
import { SearchBox } from '#components/ui/search-box';

/** A declared filter. */
export interface LogFilterField {
  readonly name: string;
  readonly kind: string;
  readonly label: string;
  readonly help: string;
  readonly unit?: string;
  /** The values of a choice; empty for other kinds. */
  readonly choices: readonly string[];
  /** Filters with a group are shown separately, collapsed at first. */
  readonly group?: { readonly title: string };
}

/** The options of a filter. */
export interface FilterChoices {
  /** Those that are found by a text, of which there may be thousands: the address that finds them, up to the text. */
  readonly find?: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  /** Label of a selected value that is not an option; if not set, the value itself. */
  readonly unknown?: string;
}

interface LogFilterProps {
  field: LogFilterField;
  /** null: no filter. */
  value: string | null;
  choices: FilterChoices | undefined;
  onChange(value: string | null): void;
}

const any = '';

/** One filter: a select if it has options, a bound of a range, or a text field that searches on Enter. */
export function LogFilter({ field, value, choices: given, onChange }: LogFilterProps) {
  const choices = given ?? declaredChoices(field);
  if (choices?.find) {
    const { find, options, unknown } = choices;
    const chosen = options.find((option) => option.value === value)?.label ?? unknown ?? value;
    const all = `Any ${field.label.toLowerCase()}`;
    return (
      <div className="min-w-0 sm:w-44">
        <NamePicker
          label={field.label}
          shown={{ text: value === null ? all : (chosen ?? value), chosen: value !== null }}
          none="No results"
          names={async (text) => [
            ...(value !== null && text === '' ? [{ value: any, label: all }] : []),
            ...(await findOptions(find, text)),
          ]}
          onPick={(picked) => onChange(picked || null)}
        />
      </div>
    );
  }
  if (choices) {
    const known = choices.options.some((option) => option.value === value);
    return (
      <NativeSelect
        label={field.label}
        className="sm:w-40"
        value={value ?? any}
        options={[
          { value: any, label: anyOf(field) },
          ...choices.options,
          ...(value && !known ? [{ value, label: choices.unknown ?? value }] : []),
        ]}
        onChange={(chosen) => onChange(chosen || null)}
      />
    );
  }
  if (field.kind === 'moment' || field.kind === 'money' || field.kind === 'count') {
    return <BoundFilter field={field} value={value} onChange={onChange} />;
  }
  return (
    <SearchBox
      className="col-span-2 min-w-40 flex-1 basis-48"
      inputClassName="font-mono text-[0.8125rem] placeholder:font-sans max-sm:pr-12"
      label={field.label}
      value={value}
      onSearch={onChange}
    />
  );
}

/** What a filter says that does not filter: "Any status", "Streamed or not", "Paid by anyone". */
function anyOf({ kind, label }: LogFilterField): string {
  if (kind === 'switch') return `${label} or not`;
  return label.endsWith(' by') ? `${label} anyone` : `Any ${label.toLowerCase()}`;
}

async function findOptions(address: string, text: string): Promise<readonly Option[]> {
  const answer = await fetch(address + encodeURIComponent(text));
  return answer.ok ? answer.json() : [];
}

function declaredChoices({ kind, choices, label }: LogFilterField): FilterChoices | undefined {
  if (kind === 'switch') {
    return {
      options: [
        { value: 'on', label },
        { value: 'off', label: `Not ${label.toLowerCase()}` },
      ],
    };
  }
  return choices.length > 0 ? { options: choices.map((value) => ({ value, label: value })) } : undefined;
}

const wallTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/;

/** One end of a range: a time, an amount or a number. It is applied on blur or Enter. */
function BoundFilter({ field, value, onChange }: Omit<LogFilterProps, 'choices'>) {
  const { kind, label, unit } = field;
  const box = useShown(value);
  function take(input: HTMLInputElement) {
    const written = input.value.trim();
    if (written !== (value ?? '')) onChange(written || null);
  }
  const moment = kind === 'moment' && (value === null || wallTime.test(value));
  return (
    <div
      className={classNames(
        'flex min-w-0 items-center gap-2 text-muted text-xs',
        kind === 'moment' && 'max-sm:col-span-2',
      )}
    >
      <span aria-hidden className="flex-1 whitespace-nowrap">
        {unit ? `${label}, ${unit}` : label}
      </span>
      <Input
        aria-label={unit ? `${label}, ${unit}` : label}
        ref={box}
        type={moment ? 'datetime-local' : 'text'}
        {...(kind === 'money' ? { inputMode: 'decimal' as const } : {})}
        {...(kind === 'count' ? { inputMode: 'numeric' as const } : {})}
        className={kind === 'moment' ? 'max-sm:max-w-60' : 'w-20 sm:w-24'}
        defaultValue={value ?? ''}
        onKeyDown={(event) => {
          if (event.key === 'Enter') take(event.currentTarget);
        }}
        onBlur={(event) => take(event.currentTarget)}
      />
    </div>
  );
}
