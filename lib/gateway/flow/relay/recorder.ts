import { Refused, unaccountable } from '#lib/core/errors';
import { askedFacts, feeFacts } from '#lib/core/facts/job';
import type { Resource, ShownResource } from '#lib/core/facts/resource';
import { meteredUsage } from '#lib/core/metering/anomaly';
import { estimateInput } from '#lib/core/metering/estimate-input';
import type { Meter } from '#lib/core/metering/meter';
import { type Usage, usedTokens } from '#lib/core/metering/usage';
import { estimate } from '#lib/gateway/admission/pure/estimate';
import type { AnsweredCall } from '#lib/gateway/flow/call/call';
import { holdTermsOf } from '#lib/gateway/flow/call/hold-terms';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { nestedFacts } from '#lib/gateway/jobs/nested-facts';

/** What an answer shows could not be kept: the client must not see it. */
export class NotKept extends Refused {
  constructor() {
    super(unaccountable('could not save the ids that the answer shows, so it is withheld'));
  }
}

/** @returns null for an answer that neither shows, deletes nor cancels anything: it is relayed as it comes. */
export function createRecorder(runtime: Runtime, call: AnsweredCall, meter: Meter | null): Recorder | null {
  const { operation, family, ask, resource } = call;
  if (!meter || operation.download) return null;
  const shows = family.shown !== undefined && operation.shows !== false && ask.shows !== false;
  if (!shows && !ask.job && !operation.resourceEffect && !resource?.job) return null;
  return new Recorder(runtime, call, meter);
}

/**
 * Records the resources and jobs that an answer shows, before the bytes that show them go to the client
 * (contract: jobs/recorded-first).
 */
export class Recorder {
  readonly #runtime: Runtime;
  readonly #call: AnsweredCall;
  readonly #meter: Meter;
  #seen = 0;
  /** Those that a later call may continue. */
  #continued: readonly ShownResource[] = [];
  #toldTokens = 0;
  #storedSettled = false;

  constructor(runtime: Runtime, call: AnsweredCall, meter: Meter) {
    this.#runtime = runtime;
    this.#call = call;
    this.#meter = meter;
  }

  /** Keeps what was shown since the last time; null: nothing new. Rejects with `NotKept`. */
  keepNew(): Promise<void> | null {
    const shown = this.#meter.shown;
    if (shown.length === this.#seen) return null;
    const fresh = shown.slice(this.#seen).filter((one) => this.#isNews(one));
    this.#seen = shown.length;
    return fresh.length === 0 ? null : this.#keep(fresh);
  }

  /** Records what the call used, for later calls that continue it; null: already recorded. */
  recordUsed(): Promise<void> | null {
    const tokens = usedTokens(meteredUsage(this.#call.outcome.charge));
    if (this.#continued.length === 0 || tokens <= this.#toldTokens) return null;
    return this.#keepResources(this.#continued);
  }

  /**
   * Settles the charge of the call that created a stored response before its usage is shown. null: the answer
   * reports no usage. Rejects with `NotKept`.
   */
  settleStored(): Promise<void> | null {
    const { operation, resource } = this.#call;
    const answer = this.#meter.answer;
    if (this.#storedSettled || operation.steps !== 'stored' || resource?.kind !== 'response') return null;
    if (answer === undefined || answer === null) return null;
    return this.#settleStored(resource, answer);
  }

  async #settleStored(resource: Resource, answer: unknown): Promise<void> {
    const { adjustments, jobs } = this.#runtime;
    try {
      // A job is settled by its own rules before any adjustment.
      if (resource.job) await jobs?.saw(resource.callId, answer);
      await adjustments?.retrieved(resource, answer);
      this.#storedSettled = true;
    } catch (error) {
      this.#runtime.report(error, this.#call.id);
      throw new NotKept();
    }
  }

  /** The answer has ended: updates the jobs and resources that it changed. Never rejects. */
  async over(): Promise<void> {
    const { operation, ask, resource, jobBefore, id, outcome } = this.#call;
    const { adjustments, jobs, resources } = this.#runtime;
    const answer = this.#meter.answer;
    if (operation.steps === 'generate' && outcome.charge.usageSource === 'reported')
      adjustments?.reported(id);
    if (ask.job && !outcome.jobOpened) {
      this.#runtime.report(
        new Error('the answer of the provider has no job id, so the job is not tracked'),
        id,
      );
    }
    try {
      if (resource && operation.resourceEffect) {
        if (jobBefore !== null) await jobs?.removed(resource.callId, jobBefore, answer ?? null);
        if (operation.resourceEffect === 'delete') await resources?.forget(resource);
        if (operation.resourceEffect === 'extend')
          await resources?.keep(id, [{ ...resource, tokens: resource.tokens + this.#written() }]);
      } else if (answer !== undefined && answer !== null) {
        const seen = this.#storedSettled;
        if (resource?.job && operation.method === 'GET' && !seen) await jobs?.saw(resource.callId, answer);
        else if (this.#call.outcome.jobOpened && ask.stream) await jobs?.saw(id, answer);
      }
    } catch (error) {
      this.#runtime.report(error, id);
    }
  }

  async #keep(fresh: readonly ShownResource[]): Promise<void> {
    const job = this.#call.ask.job && !this.#call.outcome.jobOpened ? await this.#openJob(fresh) : null;
    const others = fresh.filter((one) => one !== job);
    await this.#keepResources(this.#call.operation.repeats ? await this.#unclaimed(others) : others);
  }

  async #unclaimed(shown: readonly ShownResource[]): Promise<readonly ShownResource[]> {
    const { id, snapshot } = this.#call;
    try {
      return (await this.#runtime.resources?.unclaimed(snapshot.workspace.id, shown)) ?? [];
    } catch (error) {
      this.#runtime.report(error, id);
      throw new NotKept();
    }
  }

  async #keepResources(shown: readonly ShownResource[]): Promise<void> {
    const { id } = this.#call;
    if (shown.length === 0) return;
    const usage = meteredUsage(this.#call.outcome.charge);
    this.#toldTokens = usedTokens(usage);
    try {
      if (!this.#runtime.resources) throw new Error('this process keeps no resources');
      const kept = this.#runtime.resources.keep(
        id,
        shown.map((one) => this.#resourceOf(one, usage)),
      );
      this.#continued = [...new Set([...this.#continued, ...shown.filter(isContinued)])];
      await kept;
    } catch (error) {
      this.#runtime.report(error, id);
      throw new NotKept();
    }
  }

  /** @returns the one of `fresh` that is the job, now open; null: the answer shows none. */
  async #openJob(fresh: readonly ShownResource[]): Promise<ShownResource | null> {
    const { family, snapshot, ask, target, id: callId } = this.#call;
    const { model, offer, price } = target;
    const reader = family.jobs;
    const facts = ask.job;
    const shown = fresh.find(({ kind }) => kind === reader?.kind);
    const sight = reader && facts && shown ? reader.read(facts, this.#meter.answer) : null;
    if (!facts || !shown || !sight) return null;
    // Before the first checkpoint, so that an opened job is not charged here even if the process dies right away.
    this.#call.outcome.jobOpened = true;
    try {
      if (!this.#runtime.jobs) throw new Error('this process keeps no jobs');
      await this.#runtime.jobs.open({
        callId,
        workspaceId: snapshot.workspace.id,
        keyId: snapshot.key.id,
        family: family.id,
        kind: shown.kind,
        id: shown.id,
        providerId: offer.provider.id,
        credential: target.credential.name,
        modelId: model.id,
        upstreamModel: offer.upstreamModel,
        offerId: offer.id,
        priceVersionId: price.id,
        holdNano: this.#jobHoldNano(),
        facts: {
          ...facts,
          ...askedFacts(ask),
          ...nestedFacts(target.nested),
          ...feeFacts(target.credential),
        },
        sight,
        createdAtMs: this.#call.startMs,
      });
      return shown;
    } catch (error) {
      this.#runtime.report(error, callId);
      const orphan = `${shown.kind} ${shown.id} was created at ${offer.provider.id} but could not be recorded, so it is not tracked`;
      this.#runtime.report(new Error(orphan), callId);
      throw new NotKept();
    }
  }

  /** A job of an own key costs a fee at most, also if its call could have been answered at list price. */
  #jobHoldNano(): bigint {
    const { outcome, target, ask } = this.#call;
    if (!target.credential.own) return outcome.holdNano;
    const one = { ...target, pool: [target.credential] };
    const { holdNano } = estimate(ask, [one], holdTermsOf(this.#call));
    // Math.min takes no bigint.
    if (holdNano > outcome.holdNano) return outcome.holdNano;
    return holdNano;
  }

  /** What a stored answer shows was made by the call that made its resource. */
  #resourceOf({ view, ...shown }: ShownResource, usage: Usage): Resource {
    const { resource, snapshot, startMs, id, operation, target, ask, ticket } = this.#call;
    // An upload in parts: the call that began it has taken the room of its file.
    const callId = ticket?.callId ?? id;
    const made = operation.steps === 'stored' ? resource : null;
    const { model, offer } = target;
    return {
      ...shown,
      workspaceId: snapshot.workspace.id,
      providerId: offer.provider.id,
      credential: target.credential.name,
      family: target.family,
      modelId: made?.modelId ?? model.id,
      upstreamModel: made?.upstreamModel ?? offer.upstreamModel,
      callId: made?.callId ?? callId,
      job: false,
      tokens: isContinued(shown) ? usedTokens(usage) + this.#written() : 0,
      createdAtMs: made?.createdAtMs ?? startMs,
      ...(view === undefined ? {} : { view, viewedAtMs: this.#runtime.clock.now() }),
      ...(ask.batch === undefined ? {} : { facts: { ...ask.batch } }),
    };
  }

  /** Tokens that the body of a stored operation puts where later calls read them (contract: jobs/continued-tokens). */
  #written(): number {
    const { operation, ask } = this.#call;
    return operation.steps === 'stored' && operation.fields ? estimateInput(ask.weight) : 0;
  }

  /**
   * What the path names is recorded already, but what lists show of it may have changed. A list shows nothing else that
   * the answer of such a call names: that would be another thing of the provider's.
   */
  #isNews(one: ShownResource): boolean {
    return one.view === undefined || this.#call.resource === null ? !this.#isOwn(one) : this.#isOwn(one);
  }

  /** Whether the path names it. */
  #isOwn({ kind, id }: ShownResource): boolean {
    const { resource } = this.#call;
    return resource !== null && resource.kind === kind && resource.id === id;
  }
}

function isContinued({ kind }: Pick<ShownResource, 'kind'>): boolean {
  return kind === 'response' || kind === 'conversation' || kind === 'cache';
}
