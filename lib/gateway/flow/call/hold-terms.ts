import type { HoldTerms } from '#lib/gateway/admission/pure/estimate';
import type { PlannedCall } from '#lib/gateway/flow/call/call';

/** What the hold of a call depends on beside its request and its targets. */
export function holdTermsOf({ snapshot, previousTokens }: PlannedCall): HoldTerms {
  const { key, workspace } = snapshot;
  return { keyMaximum: key.maxOutputTokens, strict: workspace.strict, previousTokens };
}
