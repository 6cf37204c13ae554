import type { Allowance } from '#lib/gateway/admission/funds/allowance';
import type { Lease, LeaseBook } from '#lib/gateway/admission/funds/lease-book';
import type { Owner } from '#lib/gateway/admission/funds/owner';
import type { FundAnswer, MoneyStore, Want } from '#lib/gateway/admission/money-store';
import type { Clock } from '#lib/platform/clock';

export interface LineParts {
  readonly clock: Clock;
  readonly money: MoneyStore;
  readonly leases: LeaseBook;
  readonly owner: Owner;
  readonly allowance: Allowance;
}

/** What one transaction is to do. */
export interface Round {
  readonly wants: readonly Want[];
  readonly timeZone: string;
  /** Leases to enlarge though nobody waits. */
  readonly more: readonly Lease[];
  /** Subjects whose unspent leases go back first. */
  readonly reclaimed: ReadonlySet<string>;
  readonly recall: boolean;
}

/**
 * All changes of the leases of one workspace and its keys go through here, one after another, so that memory never
 * counts more money than the database has leased to this process.
 */
export class LeaseLine {
  readonly #workspaceId: string;
  readonly #parts: LineParts;
  #last: Promise<unknown> = Promise.resolve();

  constructor(workspaceId: string, parts: LineParts) {
    this.#workspaceId = workspaceId;
    this.#parts = parts;
  }

  /**
   * One transaction for all wants, its grants entered into the leases.
   * @throws when the store cannot be asked; what it did is then unknown.
   */
  fund(round: Round): Promise<FundAnswer> {
    return this.#inLine(() => this.#fund(round));
  }

  /** Gives back what is unspent, and answers a recall by that. */
  giveBack(leases: readonly Lease[]): Promise<void> {
    return this.#inLine(async () => {
      const kept = leases.map((lease) => lease.shrink());
      await this.#parts.money.giveBack(kept);
      leases.forEach((lease, position) => {
        lease.returned(kept[position]?.heldNano ?? 0n);
      });
    });
  }

  async #fund(round: Round): Promise<FundAnswer> {
    const { clock, leases, allowance } = this.#parts;
    const nowMono = clock.mono();
    const workspace = leases.workspace(this.#workspaceId, nowMono);
    const keys = new Set(round.more.filter((lease) => lease.kind === 'key'));
    for (const want of round.wants) {
      if (want.capped) keys.add(leases.key(want.keyId, this.#workspaceId, nowMono));
    }
    const touched = [workspace, ...keys];
    for (const lease of touched) lease.asking = true;
    try {
      const first = await this.#ask(round, workspace, [...keys], false);
      const answer = first.alive ? first : await this.#ask(round, workspace, [...keys], true);
      if (!answer.alive) throw new Error('this process was closed as an owner twice in a row');
      for (const one of answer.left) allowance.learn(one.subjectId, one, answer.owners, clock.mono());
      for (const lease of touched) {
        if (round.reclaimed.has(lease.subjectId)) lease.owesReturn = false;
        const grant = answer.grants.find(
          (one) => one.kind === lease.kind && one.subjectId === lease.subjectId,
        );
        lease.grant(grant?.grantedNano ?? 0n, clock.mono(), grant?.simulated);
      }
      return answer;
    } catch (error) {
      // While the store is away it is not asked for more with every call.
      for (const lease of touched) lease.grant(0n, clock.mono());
      throw error;
    } finally {
      for (const lease of touched) lease.asking = false;
    }
  }

  async #ask(round: Round, workspace: Lease, keys: readonly Lease[], closed: boolean): Promise<FundAnswer> {
    const { clock, money, owner } = this.#parts;
    await owner.ensure(closed);
    const { life } = owner;
    const stateOf = (lease: Lease) => {
      const reclaim = round.reclaimed.has(lease.subjectId);
      if (reclaim) lease.shrink();
      return lease.state(clock.mono(), reclaim);
    };
    const answer = await money.fund({
      workspaceId: this.#workspaceId,
      timeZone: round.timeZone,
      atMs: clock.now(),
      wants: round.wants,
      workspace: stateOf(workspace),
      keys: keys.map(stateOf),
      recall: round.recall,
    });
    if (owner.life !== life) throw new Error('the leases of this process became void while it asked');
    return answer;
  }

  #inLine<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
