import type { Role } from '#lib/core/role';

/** The caller of an operation, as authenticated by an adapter. */
export type Actor = UserActor | ManagementKeyActor | ApiKeyActor | OperatorActor | AnonymousActor;

interface Asked {
  /** Network address of the request, for the audit log; null: this machine. */
  readonly address: string | null;
}

/** A user who is signed in to the console; their membership says what they may do. */
export interface UserActor extends Asked {
  readonly kind: 'user';
  readonly userId: string;
  /** Whether the user is an operator of this gateway. */
  readonly operator: boolean;
  /** The session of the request, if it has one. */
  readonly sessionId?: string;
  /** They must verify their address before they can change anything but their own account. */
  readonly unverified?: boolean;
}

/** A caller who is not signed in: someone signing up, verifying an address or resetting a password. */
export interface AnonymousActor extends Asked {
  readonly kind: 'anonymous';
}

/** A management key of a workspace with a role, or (both null) of the operator. */
export interface ManagementKeyActor extends Asked {
  readonly kind: 'management-key';
  readonly keyId: string;
  readonly name: string;
  readonly workspaceId: string | null;
  readonly role: Role | null;
  /** The user who created it; null: an operator on the command line. */
  readonly madeBy: string | null;
}

/** An API key, which writes feedback on its own calls (contract: call-log/feedback-by). */
export interface ApiKeyActor extends Asked {
  readonly kind: 'api-key';
  readonly keyId: string;
  readonly workspaceId: string;
}

/** The command line, and the process itself when it fills an empty database: an operator. */
export interface OperatorActor extends Asked {
  readonly kind: 'operator';
  /** As the audit log shows it: "command line". */
  readonly name: string;
}

export const commandLine: OperatorActor = { kind: 'operator', name: 'command line', address: null };

/** Whether the actor has operator rights. */
export function isOperator(actor: Actor): boolean {
  if (actor.kind === 'operator') return true;
  if (actor.kind === 'anonymous' || actor.kind === 'api-key') return false;
  return actor.kind === 'user' ? actor.operator : actor.workspaceId === null;
}

/** The actor of an audit row: a user's id, "management-key <id>", "api-key <id>", "anonymous", or a name. */
export function actorName(actor: Actor): string {
  if (actor.kind === 'operator') return actor.name;
  if (actor.kind === 'anonymous') return 'anonymous';
  return actor.kind === 'user' ? actor.userId : `${actor.kind} ${actor.keyId}`;
}

/** The user behind an actor; null if there is none. */
export function userOf(actor: Actor): string | null {
  if (actor.kind === 'operator' || actor.kind === 'anonymous' || actor.kind === 'api-key') return null;
  return actor.kind === 'user' ? actor.userId : actor.madeBy;
}
