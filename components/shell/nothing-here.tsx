'use client';

import Link from 'next/link';
import { useParams } from 'next/navigation';
import type { ReactNode } from 'react';
import { PageHead } from '#components/page-head';
import { buttonStyle } from '#components/ui/button';
import { EmptyState } from '#components/ui/empty-state';

/** In place of a page of a workspace. */
export function NothingHere({ icon }: { icon: ReactNode }) {
  const { workspace } = useParams<{ workspace: string }>();
  return (
    <>
      <PageHead title="Page not found" />
      <EmptyState
        icon={icon}
        title="There is nothing at this address"
        action={
          <Link href={`/${workspace}`} className={buttonStyle({ tone: 'primary' })}>
            Go to the overview
          </Link>
        }
      >
        It may be mistyped, or what it names may be gone: calls are deleted after the log retention of the
        workspace. Or your role does not include this page.
      </EmptyState>
    </>
  );
}
