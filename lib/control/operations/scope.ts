/**
 * What an operation may read and change (contract: control-plane/scope). The runner makes scopes after
 * checking the caller; every query requires one as an argument.
 */
export type Scope = WorkspaceScope | EveryWorkspace;

/** One workspace; what belongs to others does not exist in this scope. */
export class WorkspaceScope {
  /** A protected member makes the type nominal: an object that only looks like a scope is not one. */
  protected readonly reach = 'workspace';
  readonly workspaceId: string;
  readonly slug: string;
  /** IANA zone. */
  readonly timeZone: string;
  /** How long its calls are shown, days; null: as long as they exist. */
  readonly retentionDays: number | null;
  /** Made-up calls and money; it must not make real calls. */
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

/** Every workspace, only for operators. */
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
 * @param values of the statement; the workspace's id is added if needed.
 */
export function within(scope: Scope, column: string, values: unknown[]): string {
  if (!(scope instanceof WorkspaceScope)) return 'TRUE';
  values.push(scope.workspaceId);
  return `${column} = $${values.length}::uuid`;
}
