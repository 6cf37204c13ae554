import { ScrollText, SearchX } from 'lucide-react';
import Link from 'next/link';
import { buttonStyle } from '#components/ui/button';
import { EmptyState } from '#components/ui/empty-state';

interface NoCallsProps {
  /** Slug. */
  workspace: string;
  /** Whether a request id was searched for. */
  searched: boolean;
  /** Whether another filter is set. */
  narrowed: boolean;
  /** Errors in the filters; each begins with the name of its filter. */
  faults: readonly string[];
}

/** Shown if no calls match the filters or there are none at all, each with its own next step. */
export function NoCalls({ workspace, searched, narrowed, faults }: NoCallsProps) {
  if (searched || narrowed) {
    return (
      <EmptyState
        icon={<SearchX />}
        title="No matching calls"
        action={
          <Link href={`/${workspace}/logs`} className={buttonStyle()}>
            Clear filters
          </Link>
        }
      >
        {faults.length > 0
          ? `${faults.join('; ')}.`
          : searched
            ? 'A call appears here within 2 seconds. Check the id: it is in the X-Request-Id header of every response.'
            : 'No calls in this workspace match these filters.'}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={<ScrollText />}
      title="No calls yet"
      action={
        <Link href={`/${workspace}/keys`} className={buttonStyle({ tone: 'primary' })}>
          Go to API keys
        </Link>
      }
    >
      Create a key and send the first request; it appears here within 2 seconds.
    </EmptyState>
  );
}
