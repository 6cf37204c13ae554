'use client';

import { type ComponentProps, type ComponentType, lazy, type ReactElement, Suspense, useState } from 'react';
import { untilLoaded } from '#components/ui/until-loaded';

interface OnDemandProps {
  /** The button that is there at once. */
  button(
    props: Pick<ComponentProps<'button'>, 'aria-haspopup' | 'aria-expanded' | 'autoFocus' | 'onClick'>,
  ): ReactElement;
  /** Stands in the button's place from its first press on, opened. */
  opened: ReactElement;
  popup: 'menu' | 'dialog';
}

/** What pops up behind a button, loaded when the button is pressed for the first time. */
export function OnDemand({ button, opened, popup }: OnDemandProps) {
  const [wanted, setWanted] = useState(false);
  const waiting = button({
    'aria-haspopup': popup,
    'aria-expanded': false,
    // While the rest is loaded another one stands in its place.
    autoFocus: wanted,
    onClick: () => setWanted(true),
  });
  return wanted ? <Suspense fallback={waiting}>{opened}</Suspense> : waiting;
}

/** A component of a module that is loaded when it is first shown. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return lazy(async () => ({ default: await untilLoaded(load) }));
}
