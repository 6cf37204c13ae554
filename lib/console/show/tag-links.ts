/** The filter of the log that finds the calls of a value. @param tag null: the value is an end user. */
export function tagFilterOf(tag: string | null, value: string): Record<string, string> {
  return tag === null ? { endUser: value } : { tag: `${tag}=${value}` };
}

/** The URL of the budget and spend of a value. @param tag null: the value is an end user. */
export function tagBudgetHref(workspace: string, tag: string | null, value: string): string {
  return `/${workspace}/tag-budgets?${new URLSearchParams({ ...(tag === null ? {} : { tag }), value })}`;
}
