'use client';

import { type ComponentProps, type ComponentType, lazy, type ReactElement, Suspense, useState } from 'react';
import { untilLoaded } from '#components/ui/until-loaded';

interface OnDemandProps {
  /** The button that is shown immediately. */
  button(
    props: Pick<ComponentProps<'button'>, 'aria-haspopup' | 'aria-expanded' | 'autoFocus' | 'onClick'>,
  ): ReactElement;
  /** Replaces the button from the first click on, opened. */
  opened: ReactElement;
  popup: 'menu' | 'dialog';
}

/** A popup behind a button, loaded on the first click. */
export function OnDemand({ button, opened, popup }: OnDemandProps) {
  const [wanted, setWanted] = useState(false);
  const waiting = button({
    'aria-haspopup': popup,
    'aria-expanded': false,
    // While the rest is loading, another button takes its place.
    autoFocus: wanted,
    onClick: () => setWanted(true),
  });
  return wanted ? <Suspense fallback={waiting}>{opened}</Suspense> : waiting;
}

/** A component of a module that is loaded when it is first shown. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return lazy(async () => ({ default: await untilLoaded(load) }));
}
