import { toast } from '#components/ui/toaster';

/** Says how the test of a key ended. @param failure null: it passed. */
export function tellTest(
  failure: string | null,
  { passed, failed }: { readonly passed: string; readonly failed: string },
): void {
  if (failure === null) toast.success(passed);
  else toast.error(`${failed}: ${failure}`);
}
