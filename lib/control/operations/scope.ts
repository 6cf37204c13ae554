/**
 * Where an operation may look and what it may change (contract: control-plane/scope). The runner makes scopes, after
 * it has checked who asks; a query takes one as an argument that it cannot do without.
 */
export type Scope = WorkspaceScope | EveryWorkspace;

/** One workspace: what belongs to another does not exist here. */
export class WorkspaceScope {
  /** A protected member makes the type nominal: an object that only looks like a scope is none. */
  protected readonly reach = 'workspace';
  readonly workspaceId: string;
  readonly slug: string;
  /** IANA zone. */
  readonly timeZone: string;
  /** How long its calls are shown, days; null: as long as they are there. */
  readonly retentionDays: number | null;
  /** Made-up calls and money: nothing of it may call. */
  readonly demo: boolean;
  constructor(workspace: {
    id: string;
    slug: string;
    timeZone: string;
    retentionDays: number | null;
    demo: boolean;
  }) {
    this.workspaceId = workspace.id;
    this.slug = workspace.slug;
    this.timeZone = workspace.timeZone;
    this.retentionDays = workspace.retentionDays;
    this.demo = workspace.demo;
  }
}

/** Every workspace: operators alone have it. */
export class EveryWorkspace {
  protected readonly reach = 'everything';
}

/** The scope as a condition for Prisma on a table with a column `workspaceId`. */
export function inScope(scope: Scope): { workspaceId?: string } {
  return scope instanceof WorkspaceScope ? { workspaceId: scope.workspaceId } : {};
}

/**
 * The scope as a condition of a statement in SQL.
 * @param column "k.workspace_id".
 * @param values of the statement; the workspace's id is added to them where it is needed.
 */
export function within(scope: Scope, column: string, values: unknown[]): string {
  if (!(scope instanceof WorkspaceScope)) return 'TRUE';
  values.push(scope.workspaceId);
  return `${column} = $${values.length}::uuid`;
}
