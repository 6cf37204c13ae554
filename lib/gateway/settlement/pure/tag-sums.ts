import { tagIdOf } from '#lib/core/facts/tags';
import type { Usage } from '#lib/core/metering/usage';
import type { CountedCall } from '#lib/gateway/settlement/pure/entry';
import { errorClassOf } from '#lib/gateway/settlement/pure/error-class';
import { isOwnAnswer } from '#lib/gateway/settlement/pure/own-answer';
import { countedUsage } from '#lib/gateway/settlement/pure/quarter';

/** What calls with a tag add up to in a quarter of an hour (contract: tags/usage). */
export interface TagQuarter {
  readonly tagId: string;
  readonly workspaceId: string;
  /** Start of the quarter of admission, ms since the epoch. */
  readonly quarterMs: number;
  calls: number;
  refused: number;
  errors: number;
  inputTokens: number;
  outputTokens: number;
  costNano: bigint;
}

/** What the tags of newly logged calls change. */
export interface TagEffects {
  readonly tags: Map<string, { readonly workspaceId: string; readonly name: string; readonly value: string }>;
  readonly calls: { readonly callId: string; readonly tagId: string }[];
  readonly quarters: Map<string, TagQuarter>;
}

export function noTagEffects(): TagEffects {
  return { tags: new Map(), calls: [], quarters: new Map() };
}

/** Counts a call for each of its tags. @param quarterMs of its admission. */
export function addTags(effects: TagEffects, call: CountedCall, quarterMs: number): void {
  const { id, workspaceId, tags = [] } = call;
  for (const tag of tags) {
    const tagId = tagIdOf(workspaceId, tag);
    effects.tags.set(tagId, { workspaceId, ...tag });
    effects.calls.push({ callId: id, tagId });
    const name = `${tagId} ${quarterMs}`;
    const sum = effects.quarters.get(name) ?? {
      ...{ tagId, workspaceId, quarterMs, calls: 0, refused: 0, errors: 0 },
      ...{ inputTokens: 0, outputTokens: 0, costNano: 0n },
    };
    effects.quarters.set(name, sum);
    if (isOwnAnswer(call)) continue;
    sum.calls += 1;
    if (call.endReason === 'refused') sum.refused += 1;
    if (errorClassOf(call) !== null) sum.errors += 1;
    addTokens(sum, countedUsage(call.usage));
    sum.costNano += call.costNano;
  }
}

/** Adds tokens of all classes of input, and of output. @param used as the sums count it. */
export function addTokens(
  sum: Pick<TagQuarter, 'inputTokens' | 'outputTokens'>,
  used: Readonly<Usage>,
): void {
  sum.inputTokens += used.input + used.cachedInput + used.cacheWrite5m + used.cacheWrite1h;
  sum.outputTokens += used.output;
}
