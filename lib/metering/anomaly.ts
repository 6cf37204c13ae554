import { noUsage, type Usage, type UsageReport } from '#lib/metering/usage';

/** A report fit to be charged by, and what had to be changed in it. */
export interface BoundedReport {
  readonly report: UsageReport;
  /** `usage_anomaly`: a figure stood above the bound. `usage_negative`: one was no count at all. */
  readonly flags: readonly string[];
}

/**
 * The largest figure of any class that is charged as reported: 10 × (context + maximum output × n),
 * tokens or pieces (decisions §6). A model of pictures may have neither: then there is no bound.
 */
function usageBound(
  model: { readonly contextTokens: number; readonly maxOutputTokens: number },
  choices: number,
): number {
  const most = model.contextTokens + model.maxOutputTokens * Math.max(1, choices);
  return most === 0 ? Number.MAX_SAFE_INTEGER : 10 * most;
}

/**
 * The report to charge by (decisions §6): a figure above the bound stands at the bound, one that is
 * negative or not an integer at 0. The report given stays as it is, because the call log shows what
 * the provider said.
 * @param choices `n` of the request.
 */
export function boundUsage(
  report: UsageReport,
  model: { readonly contextTokens: number; readonly maxOutputTokens: number },
  choices: number,
): BoundedReport {
  const bound = usageBound(model, choices);
  const fits = isBounded(report.usage, bound) && report.nested.every((part) => isBounded(part.usage, bound));
  if (fits) return { report, flags: noFlags };
  const flags = new Set<string>();
  const bounded = (usage: Usage): Usage => {
    const kept = { ...usage };
    for (const name of classes) kept[name] = boundFigure(kept[name], bound, flags);
    return kept;
  };
  const nested = report.nested.map((part) => ({ ...part, usage: bounded(part.usage) }));
  return { report: { ...report, usage: bounded(report.usage), nested }, flags: [...flags] };
}

const noFlags: readonly string[] = [];

/** Whether all figures may be charged as they are, which is the rule. */
function isBounded(usage: Usage, bound: number): boolean {
  for (const name of classes) {
    const figure = usage[name];
    if (!Number.isInteger(figure) || figure < 0 || figure > bound) return false;
  }
  return true;
}

function boundFigure(figure: number, bound: number, flags: Set<string>): number {
  if (figure > bound) {
    flags.add('usage_anomaly');
    return bound;
  }
  if (Number.isInteger(figure) && figure >= 0) return figure;
  flags.add('usage_negative');
  return 0;
}

/** Names of the figures: `noUsage` is a plain object with these keys alone. */
const classes = Object.keys(noUsage) as readonly (keyof Usage)[];
