import type { FormAnswer } from '#components/form/answer';
import type { OpenedPolicy } from '#components/routing/policy-draft';
import type { PolicyFault } from '#components/routing/policy-form-context';

/** The effect of a draft, as determined by the server. */
export interface Review {
  readonly faults: readonly PolicyFault[];
  /** As text, compared with the version in force. */
  readonly changes: readonly string[];
}

/** A routing plan with its reasons. */
export interface Explained {
  readonly model: string;
  readonly requestedModel: string;
  readonly family: string;
  readonly candidates: readonly {
    readonly provider: string;
    readonly model: string;
    /** Protocol that it is called in, if it is not the client's. */
    readonly translatedTo: string | null;
    readonly input: string | null;
    readonly output: string | null;
    readonly openUntil: string | null;
  }[];
  readonly skipped: readonly { readonly provider: string; readonly model: string; readonly why: string }[];
  readonly health: 'live' | 'unknown';
  readonly failure: { readonly code: string; readonly message: string } | null;
}

/** The health of offers. */
export interface OffersHealth {
  readonly processes: number;
  readonly offers: readonly {
    readonly model: string;
    readonly provider: string;
    readonly state: 'in service' | 'set aside' | 'probing';
    readonly until: string | null;
    readonly firstByteMs: number | null;
    readonly wholeMs: number | null;
    readonly tokensPerSecond: number | null;
    readonly errorRate: number;
    readonly failures: number;
  }[];
}

/** The health to show after an answer: if no process answers, the last known figures stay. */
export function healthAfter(shown: OffersHealth, answer: OffersHealth): OffersHealth {
  return answer.processes === 0 ? { ...shown, processes: 0 } : answer;
}

type Act<Out> = (workspace: string, input: Record<string, unknown>) => Promise<FormAnswer<Out>>;

/** The actions that the page passes to the editor. */
export interface RoutingActions {
  readonly open: Act<OpenedPolicy>;
  readonly review: Act<Review>;
  readonly save: Act<{ revision: number }>;
  readonly discard: Act<{ discarded: boolean }>;
  readonly publish: Act<{ version: number }>;
  readonly rollBack: Act<{ version: number; restored: number | null }>;
  readonly explain: Act<Explained>;
  readonly health: Act<OffersHealth>;
}
