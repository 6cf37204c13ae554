'use client';

import { Plus } from 'lucide-react';
import { Suspense, useState } from 'react';
import type { BudgetSubject, NewBudgetFacts } from '#components/tag-budgets/popups/tag-budget-dialog';
import { Button } from '#components/ui/button';
import { later } from '#components/ui/on-demand';

const TagBudgetDialog = later(() =>
  import('#components/tag-budgets/popups/tag-budget-dialog').then((all) => all.TagBudgetDialog),
);

interface CreateTagBudgetProps extends NewBudgetFacts {
  /** Whose budget the form begins with; null: that of each end user. */
  subject: BudgetSubject | null;
  /** Why none can be added; null: one can. */
  locked: string | null;
}

/** Opens the form of a new budget, which is loaded on the first click. */
export function CreateTagBudget({ locked, ...props }: CreateTagBudgetProps) {
  const [open, setOpen] = useState(false);
  const [wanted, want] = useState(false);
  function start() {
    want(true);
    setOpen(true);
  }
  return (
    <>
      {props.subject ? (
        <Button size="small" disabled={locked !== null} title={locked ?? undefined} onClick={start}>
          Set a budget of its own
        </Button>
      ) : (
        <Button tone="primary" disabled={locked !== null} title={locked ?? undefined} onClick={start}>
          <Plus />
          Add budget
        </Button>
      )}
      {wanted ? (
        <Suspense fallback={null}>
          <TagBudgetDialog {...props} open={open} onOpenChange={setOpen} />
        </Suspense>
      ) : null}
    </>
  );
}
