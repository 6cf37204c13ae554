/** What a page tells those who wait. */
export type Waiting = 'nothing' | 'waiting' | 'slow' | 'lost';

/** A wait is shown after this, ms: most end sooner, and a bar that flashes looks like a fault. */
const shownAfterMs = 300;
/** After this, ms, a wait is longer than anything that the gateway does. */
const slowAfterMs = 8_000;

export interface Watch {
  /** Called when a request that the user waits for begins. @returns what to call when it ends: whether it was answered. */
  begin(): (answered: boolean) => void;
  end(): void;
}

/** Watches the requests that the user waits for; several at once are one wait. @param tell is called on each change. */
export function watchWaits(tell: (waiting: Waiting) => void): Watch {
  let open = 0;
  let timers: ReturnType<typeof setTimeout>[] = [];
  const stop = () => {
    for (const timer of timers) clearTimeout(timer);
    timers = [];
  };
  return {
    begin: () => {
      if (open++ === 0) {
        stop();
        timers = [
          setTimeout(() => tell('waiting'), shownAfterMs),
          setTimeout(() => tell('slow'), slowAfterMs),
        ];
      }
      let over = false;
      return (answered) => {
        if (over) return;
        over = true;
        if (--open > 0) return;
        stop();
        tell(answered ? 'nothing' : 'lost');
      };
    },
    end: stop,
  };
}

/** Whether a request brings a page or carries out an action, and none is made ahead of time. */
export function isNavigation(headers: Headers): boolean {
  if (headers.has('next-router-prefetch') || headers.has('next-router-segment-prefetch')) return false;
  return headers.has('rsc') || headers.has('next-action');
}
