import { createHash } from 'node:crypto';
import type { BatchLine, NameLine } from '#lib/core/batches/line';
import { isRefusal, type Refusal, Refused, refusal } from '#lib/core/errors';
import type { Keeper } from '#lib/core/facts/credential';
import type { Resource, ResourceReference } from '#lib/core/facts/resource';
import { type Ask, type BatchWeight, budgetToInject, type Edit } from '#lib/core/families/family';
import { checkBudget, checkModel } from '#lib/gateway/admission/pure/decide';
import { addLine } from '#lib/gateway/admission/pure/estimate';
import { type AskedCall, extendCall, type PlannedCall } from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { findOwned, unknown } from '#lib/gateway/flow/steps/own-resource';
import { planPlacedCall } from '#lib/gateway/flow/steps/plan-call';
import { resolveNames } from '#lib/gateway/routing/names/resolve';
import type { Target } from '#lib/gateway/routing/pure/target';

/** Stored things that lines may refer to; each is looked up once. */
const MOST_REFERENCES = 1_000;

/** What the lines are refused with when there are none, and when there are too many. */
interface Bounds {
  readonly most: number;
  readonly tooMany: string;
  readonly none: string;
}

/**
 * Checks the lines of a batch one after another, as calls would be, and finds out where it goes and what it weighs
 * (contract: batches/read, batches/bad-line). Memory: the print of each `custom_id`.
 */
export class BatchLines {
  readonly #runtime: Runtime;
  readonly #call: AskedCall;
  readonly #bounds: Bounds;
  readonly #ids = new Set<string>();
  readonly #kept = new Map<string, Resource>();
  #keeper: Keeper | null;
  #planned: PlannedCall | null = null;
  #model = '';
  #weight: BatchWeight = nothing;

  constructor(runtime: Runtime, call: AskedCall, bounds: Bounds) {
    this.#runtime = runtime;
    this.#call = call;
    this.#bounds = bounds;
    this.#keeper = call.pinned;
  }

  /**
   * Checks a line.
   * @param named puts its name into a refusal.
   * @returns the edits of its body, by places in that body. @throws Refused that names the line.
   */
  async take(line: BatchLine, named: NameLine): Promise<readonly Edit[]> {
    const checked = this.#check(line);
    if (isRefusal(checked)) throw new Refused(named(checked));
    if (checked.references) await this.#pin(named, checked.references);
    this.#planned ??= this.#plan(line);
    const target = this.#targetOf(checked, this.#planned);
    this.#weight = addLine(this.#weight, checked, target, this.#terms());
    const injected = checked.budget === null || checked.budgetIsNested ? target.injectBudget : null;
    return line.family.edits(checked, target.offer, injected);
  }

  /** Where the batch goes, and what its lines weigh. @throws Refused when there was no line. */
  end(): { readonly planned: PlannedCall; readonly weight: BatchWeight; readonly model: string } {
    if (!this.#planned) throw new Refused(invalid(this.#bounds.none));
    return { planned: this.#planned, weight: this.#weight, model: this.#model };
  }

  #check(line: BatchLine): Ask | Refusal {
    const { snapshot } = this.#call;
    const print = createHash('sha256').update(line.customId).digest('base64').slice(0, 22);
    if (this.#ids.has(print)) return invalid('Another line has the same "custom_id"; give each its own.');
    if (this.#ids.size >= this.#bounds.most) return invalid(this.#bounds.tooMany);
    this.#ids.add(print);
    const catalogue = this.#runtime.catalogue();
    const named = resolveNames(line.ask, line.family.id, snapshot, catalogue);
    if (isRefusal(named)) return named;
    if (this.#weight.lines > 0) {
      if (named.model !== this.#model) {
        return invalid(`All lines of a batch must name one model; the lines before name ${this.#model}.`);
      }
      if (line.endpoint !== this.#weight.endpoint) {
        return invalid(
          `All lines of a batch must have one "url"; the lines before have ${this.#weight.endpoint}.`,
        );
      }
    }
    const refused = checkModel(named.model, snapshot, catalogue) ?? checkBudget(named, snapshot.key);
    if (refused) return refused;
    this.#model = named.model;
    this.#weight = { ...this.#weight, endpoint: line.endpoint };
    return named;
  }

  /** What lines refer to must be the workspace's own, and stored where the batch goes (contract: jobs/pinning). */
  async #pin(named: NameLine, references: readonly ResourceReference[]): Promise<void> {
    for (const { kind, id, required } of references) {
      const name = `${kind} ${id}`;
      if (this.#kept.has(name)) continue;
      if (this.#kept.size >= MOST_REFERENCES) {
        throw new Refused(named(invalid(`The lines refer to over ${MOST_REFERENCES} stored things.`)));
      }
      const found = await findOwned(this.#runtime, this.#call, kind, id);
      if (found === null) {
        if (required) throw new Refused(named(unknown(kind)));
        continue;
      }
      this.#kept.set(name, found);
      this.#keeper ??= found;
      const { providerId, credential } = this.#keeper;
      const planned = this.#planned?.plan.targets[0];
      const there =
        providerId === found.providerId &&
        credential === found.credential &&
        (!planned || (planned.offer.provider.id === providerId && planned.credential.name === credential));
      if (!there) throw new Refused(named(invalid(elsewhere)));
    }
  }

  #plan(line: BatchLine): PlannedCall {
    const call = extendCall(this.#call, { pinned: this.#keeper });
    return planPlacedCall(this.#runtime, call, { model: this.#model, family: line.family.id });
  }

  #targetOf(ask: Ask, { plan }: PlannedCall): Target {
    const [target] = plan.targets;
    if (!target) throw new Refused(plan.failure ?? invalid(this.#bounds.none));
    const { maxOutputTokens } = this.#call.snapshot.key;
    return { ...target, injectBudget: budgetToInject(ask, maxOutputTokens, target.model) };
  }

  #terms() {
    const { key, workspace } = this.#call.snapshot;
    return { keyMaximum: key.maxOutputTokens, strict: workspace.strict, previousTokens: 0 };
  }
}

const elsewhere =
  'It refers to something that another provider or account stores than the lines before; send these lines in a batch of their own, with the first line referring to it.';

const nothing: BatchWeight = {
  endpoint: '',
  lines: 0,
  textTokens: 0,
  imageTokens: 0,
  soundTokens: 0,
  outputTokens: 0,
  mostInput: 0,
  mostOutput: 0,
  choices: 1,
  serverTools: 0,
  caches: 0,
};

function invalid(message: string): Refusal {
  return refusal('invalid_body', message);
}
