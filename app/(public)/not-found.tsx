import { SearchX } from 'lucide-react';
import Link from 'next/link';
import { buttonStyle } from '#components/ui/button';
import { EmptyState } from '#components/ui/empty-state';

/** Between the head and the foot of the public pages, which have the name of the gateway already. */
export default function NoPublicPage() {
  return (
    <>
      <h1 className="font-semibold text-xl tracking-tight">Page not found</h1>
      <EmptyState
        icon={<SearchX />}
        title="There is nothing at this address"
        action={
          <Link href="/models" className={buttonStyle({ tone: 'primary' })}>
            Browse the models
          </Link>
        }
      >
        It may be mistyped, or the model or page that it names may have been removed.
      </EmptyState>
    </>
  );
}
