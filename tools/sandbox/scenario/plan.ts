import { type Behaviour, honest } from '#tools/sandbox/scenario/behaviour';
import { faultNames, findFault } from '#tools/sandbox/scenario/faults';
import { type ModelName, numberParam, parseName } from '#tools/sandbox/scenario/name';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** What will happen in one request. */
export interface Scenario {
  readonly name: ModelName;
  readonly behaviour: Behaviour;
}

/** Turns model names into scenarios; counts the calls of each name, for `times=`. */
export class Scenarios {
  readonly #calls = new Map<string, number>();
  readonly #paceMs: number;

  /** @param paceMs between content chunks, if a name does not say. */
  constructor(paceMs: number) {
    this.#paceMs = paceMs;
  }

  /**
   * @param model as requested, or the prompt's directive.
   * @param paceHeader `x-sandbox-pace`: "MS/CHUNKS" or "MS", if the name does not say.
   * @throws ProviderFault 404 for an unknown fault; it names the known ones.
   */
  plan(model: string, paceHeader: string | undefined): Scenario {
    const name = parseName(model);
    const strikes = this.#strikes(model, name);
    const fault = name.fault === null || !strikes ? {} : findFault(name);
    if (fault === null) {
      const known = faultNames().join(', ');
      throw new ProviderFault(
        404,
        `The fault '${name.fault}' does not exist. Known: ${known}`,
        'model_not_found',
      );
    }
    const [headerMs, headerChunks] = (paceHeader ?? '').split('/').map((part) => Number.parseInt(part, 10));
    const chunks = name.pace?.chunks ?? headerChunks;
    const tokens = name.params.has('tokens') ? numberParam(name, 'tokens', 0) : chunks;
    const behaviour = {
      ...honest,
      gapMs: headerMs || this.#paceMs,
      reasoning: numberParam(name, 'reasoning', 0),
      tier: name.params.get('tier') ?? null,
      ...(fault.stop ? { tokens: fault.stop.after + 8 } : {}),
      ...fault,
      ...(tokens === undefined || Number.isNaN(tokens) ? {} : { tokens }),
      ...(name.pace ? { gapMs: name.pace.gapMs } : {}),
    };
    return { name, behaviour };
  }

  #strikes(model: string, name: ModelName): boolean {
    if (!name.params.has('times')) return true;
    const calls = (this.#calls.get(model) ?? 0) + 1;
    this.#calls.set(model, calls);
    return calls <= numberParam(name, 'times', 0);
  }
}
