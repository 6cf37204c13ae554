import { createHash } from 'node:crypto';

/** Whom or what a call was for (contract: tags/sources). */
export interface Tag {
  readonly name: string;
  readonly value: string;
}

/** The name of the tag that has the id of the end user: no tag of a client may be called so. */
export const endUserName = '@end-user';

/** Names of tags (contract: tags/bounds). */
export const tagNamePattern = /^[A-Za-z0-9_.-]{1,64}$/;
/** Characters of a value or of the id of an end user. */
export const longestTagValue = 256;

/** What calls with a tag may spend, nano-dollars; null: no such budget. */
export interface TagCaps {
  readonly dayNano: bigint | null;
  readonly d7Nano: bigint | null;
  readonly d30Nano: bigint | null;
}

export interface TagBudget {
  readonly caps: TagCaps;
  /** Per minute; null: no limit. */
  readonly limits: {
    readonly rpm: number | null;
    readonly tpm: number | null;
    readonly concurrency: null;
  };
}

/** What a workspace has chosen (contract: tags/choice); it has at least one of the two on. */
export interface TagRules {
  readonly tags: boolean;
  readonly endUsers: boolean;
  /** By name and then by value; "": for every value that is not named. */
  readonly budgets: ReadonlyMap<string, ReadonlyMap<string, TagBudget>>;
}

/** A tag of a call that has a budget. */
export interface BoundTag extends Tag, TagBudget {
  /** UUID of the tag. */
  readonly id: string;
}

/** The UUID of a tag of a workspace: the same everywhere, so that it needs no look-up. */
export function tagIdOf(workspaceId: string, { name, value }: Tag): string {
  const digest = createHash('sha256').update(`${workspaceId.toLowerCase()}\n${name}\n${value}`).digest();
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x80;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  const hex = digest.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}

/** The budgets of a call's tags: the end user's first, then those of tags by name (contract: tags/spend). */
export function boundTags(
  workspaceId: string,
  tags: readonly Tag[],
  { budgets }: Pick<TagRules, 'budgets'>,
): readonly BoundTag[] {
  if (budgets.size === 0) return [];
  const bound = tags.flatMap((tag) => {
    const of = budgets.get(tag.name);
    const budget = of?.get(tag.value) ?? of?.get('');
    return budget ? [{ ...tag, ...budget, id: tagIdOf(workspaceId, tag) }] : [];
  });
  // The end user's budget is checked first, and named in the refusal (contract: tags/spend).
  const place = ({ name }: Tag) => (name === endUserName ? '' : name);
  return bound.sort((one, other) => (place(one) < place(other) ? -1 : 1));
}

/** Whether any of its amounts is bounded. */
export function hasTagCaps({ caps }: TagBudget): boolean {
  return caps.dayNano !== null || caps.d7Nano !== null || caps.d30Nano !== null;
}

/** Whether requests or tokens a minute are limited. */
export function hasTagLimits({ limits }: TagBudget): boolean {
  return limits.rpm !== null || limits.tpm !== null;
}

/** As messages name it: `End user "u-17"`, `Tag "feature=search"`. */
export function tagTitle({ name, value }: Tag): string {
  return name === endUserName
    ? `End user ${JSON.stringify(value)}`
    : `Tag ${JSON.stringify(`${name}=${value}`)}`;
}

/** The flag of a call that a limit a minute of a tag or end user refused (contract: call-log/flags). */
export function tagLimitFlag(name: string): string {
  return name === endUserName ? 'end_user_limit' : `tag_limit_${name}`;
}
