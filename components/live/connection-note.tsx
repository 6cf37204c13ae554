import { signInAddress } from '#components/account/sign-in-again';
import type { Connection } from '#components/live/use-poll';

/** Shows whether live updates are working. */
export function ConnectionNote({ connection }: { connection: Connection }) {
  return (
    <span role="status" className="inline-flex items-center gap-1.5 text-xs">
      <span
        aria-hidden
        className={
          connection === 'live'
            ? 'size-1.5 rounded-full bg-good motion-safe:animate-pulse'
            : 'size-1.5 rounded-full bg-warn'
        }
      />
      {connection === 'live' ? 'live' : null}
      {connection === 'lost' ? <span className="text-warn">connection lost, reconnecting</span> : null}
      {connection === 'signed-out' ? (
        <a href={signInAddress()} className="text-warn underline underline-offset-2">
          signed out: sign in again
        </a>
      ) : null}
    </span>
  );
}
