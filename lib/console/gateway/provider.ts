import { showFamily } from '#lib/console/models/rows';
import { showSpan } from '#lib/console/show/time';
import type { ShownProvider } from '#lib/control/operations/provider/list';
import type { Probed } from '#lib/control/operations/provider/probe';
import { showMoney } from '#lib/core/show-money';

/** A row of the table of providers. */
export interface ProviderRow {
  readonly id: string;
  readonly name: string;
  readonly offers: number;
  readonly families: readonly {
    readonly name: string;
    readonly address: string;
    readonly why: string | null;
  }[];
  readonly credential: {
    readonly text: string;
    readonly given: boolean;
    readonly usable: boolean;
    readonly why: string | null;
  };
}

export function providerRowOf({ id, name, offers, families, credential }: ShownProvider): ProviderRow {
  const { kind, variable, usable, why } = credential;
  const places = { none: 'None', variable: variable ?? '', sealed: 'Stored, encrypted' };
  return {
    id,
    name,
    offers,
    families: families.map(({ family, address, why: reason }) => ({
      name: showFamily(family),
      address: address ?? '',
      why: reason,
    })),
    // Missing variables are reported once, above the table.
    credential: {
      text: places[kind],
      given: kind !== 'none',
      usable,
      why: kind === 'variable' ? null : why,
    },
  };
}

/** The result of testing a provider. */
export interface TestedProvider {
  readonly model: string;
  /** null: it was not kept. */
  readonly outcome: Omit<Probed, 'upstreamRequestId'> | null;
}

/**
 * The result of a test in a sentence: "acme/small answered 200 in 320 ms: 8 tokens in, 16 out, $0.000072."
 */
export function outcomeText({ model, outcome }: TestedProvider): string {
  if (outcome === null) return `${model} was called, but its answer was not kept. Run the test again.`;
  const { ok, status, durationMs, message, input, output, cost } = outcome;
  const span = showSpan(durationMs);
  if (!ok) {
    const what = status === null ? `did not answer (${span})` : `answered ${status} in ${span}`;
    return `${model} ${what}: ${message ?? 'no reason given'}`;
  }
  const used = input === null ? 'no usage reported' : `${input} tokens in, ${output ?? 0} out`;
  return `${model} answered ${status} in ${span}: ${used}${cost === null ? '' : `, ${showMoney(cost)}`}.`;
}
