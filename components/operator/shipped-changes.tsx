'use client';

import { useRouter } from 'next/navigation';
import type { FormAnswer } from '#components/form/answer';
import { CatalogueChanges, type Comparison } from '#components/operator/catalogue-changes';

interface ShippedChangesProps {
  comparison: Comparison;
  apply(input: { prune: boolean }): Promise<FormAnswer<unknown>>;
}

/** CatalogueChanges for the files that come with this version, which the server reads itself. */
export function ShippedChanges({ comparison, apply }: ShippedChangesProps) {
  const router = useRouter();
  return <CatalogueChanges comparison={comparison} apply={apply} onApplied={() => router.refresh()} />;
}
