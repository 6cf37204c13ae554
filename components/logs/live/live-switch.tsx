'use client';

import { Radio } from 'lucide-react';
import { parseAsBoolean, useQueryState } from 'nuqs';
import { Button } from '#components/ui/button';
import { classNames } from '#components/ui/class-names';

/** Whether new calls appear automatically; kept in the URL. */
export function useLive() {
  return useQueryState('live', parseAsBoolean.withDefault(false).withOptions({ shallow: false }));
}

export function LiveSwitch() {
  const [live, setLive] = useLive();
  return (
    <Button
      aria-pressed={live}
      className={classNames(live && 'border-accent bg-accent-soft text-accent-ink hover:bg-accent-soft')}
      onClick={() => void setLive(live ? null : true)}
    >
      <Radio className={classNames(live ? 'text-accent-ink' : 'text-muted')} />
      Live
    </Button>
  );
}
