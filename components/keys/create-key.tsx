'use client';

import { Plus } from 'lucide-react';
import { useQueryState } from 'nuqs';
import {
  createContext,
  type ReactNode,
  type RefObject,
  Suspense,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useKeyPage } from '#components/keys/key-actions';
import { Button } from '#components/ui/button';
import { later } from '#components/ui/on-demand';
import { Tooltip } from '#components/ui/tooltip';

const CreateDialog = later(() =>
  import('#components/keys/popups/create-dialog').then((all) => all.CreateDialog),
);

interface Creation {
  start(): void;
  /** The button on the page, which gets the focus back. */
  readonly button: RefObject<HTMLButtonElement | null>;
}

const CreationContext = createContext<Creation | null>(null);

/**
 * Wraps the whole page and contains the form and the new secret: the button moves when the first key turns
 * the empty page into a list, and a secret that moved with it would be lost.
 */
export function KeyCreation({ children }: { children: ReactNode }) {
  const { locked } = useKeyPage();
  const [open, setOpen] = useState(false);
  const [wanted, want] = useState(false);
  if (open && !wanted) want(true);
  const [asked, ask] = useQueryState('new');
  const arrived = asked === 'key';
  // `?new=key` opens the form once. If it stayed in the address, a refresh could open the form again.
  useEffect(() => {
    if (!arrived) return;
    setOpen(locked === null);
    void ask(null);
  }, [arrived, locked, ask]);
  const button = useRef<HTMLButtonElement>(null);
  const creation = useMemo(() => ({ start: () => setOpen(true), button }), []);
  return (
    <CreationContext value={creation}>
      {children}
      {wanted ? (
        <Suspense fallback={null}>
          <CreateDialog open={open} onOpenChange={setOpen} button={button} />
        </Suspense>
      ) : null}
    </CreationContext>
  );
}

export function CreateKeyButton() {
  const { locked } = useKeyPage();
  const creation = useContext(CreationContext);
  if (!creation) throw new Error('a key is created inside KeyCreation');
  if (locked) {
    return (
      <Tooltip content={locked}>
        <Button tone="primary" aria-disabled aria-description={locked}>
          <Plus />
          Create key
        </Button>
      </Tooltip>
    );
  }
  return (
    <Button tone="primary" ref={creation.button} onClick={creation.start}>
      <Plus />
      Create key
    </Button>
  );
}
