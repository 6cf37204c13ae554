import { Search } from 'lucide-react';
import { Form } from '#components/form/form';
import { useShown } from '#components/form/use-shown';
import { classNames } from '#components/ui/class-names';
import { Input } from '#components/ui/input';

interface SearchBoxProps {
  /** What it searches; the accessible name. */
  label: string;
  /** Shown while it is empty; defaults to the label. */
  placeholder?: string;
  /** The current search. */
  value: string | null;
  className?: string;
  inputClassName?: string;
  /** Called on Enter; null: the field is empty. */
  onSearch(text: string | null): void;
}

const longestSearch = 200;

/** A field that searches on Enter. */
export function SearchBox({ label, placeholder = label, value, onSearch, ...look }: SearchBoxProps) {
  const box = useShown(value);
  return (
    <Form
      className={classNames('relative', look.className)}
      onSend={(data) => {
        const text = String(data.get('text') ?? '').trim();
        onSearch(text || null);
      }}
    >
      <Search
        aria-hidden
        className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted"
      />
      <Input
        ref={box}
        name="text"
        type="search"
        aria-label={label}
        placeholder={placeholder}
        defaultValue={value ?? ''}
        maxLength={longestSearch}
        autoComplete="off"
        spellCheck={false}
        className={classNames('pl-9', look.inputClassName)}
      />
    </Form>
  );
}
