import type { Role } from '#lib/core/role';

/** Who asks for an operation, as an adapter has authenticated them. */
export type Actor = UserActor | ManagementKeyActor | OperatorActor | StrangerActor;

interface Asked {
  /** Where the request came from, for the audit trail; null: this machine. */
  readonly address: string | null;
}

/** Somebody who is signed in to the console. What they may do is what their membership says. */
export interface UserActor extends Asked {
  readonly kind: 'user';
  readonly userId: string;
  /** One of the people who run the gateway. */
  readonly operator: boolean;
  /** The session in which they ask; none in a request without one. */
  readonly sessionId?: string;
  /** Their address has to be verified before they change anything beyond their own account. */
  readonly unverified?: boolean;
}

/** Somebody who is not signed in: signs up, verifies an address, forgot a password. */
export interface StrangerActor extends Asked {
  readonly kind: 'stranger';
}

/** A management key of a workspace with a role, or (both null) of the operator. */
export interface ManagementKeyActor extends Asked {
  readonly kind: 'management-key';
  readonly keyId: string;
  readonly name: string;
  readonly workspaceId: string | null;
  readonly role: Role | null;
  /** The user who made it; null: an operator on the command line. */
  readonly madeBy: string | null;
}

/** The command line, and the process itself when it fills an empty database: an operator. */
export interface OperatorActor extends Asked {
  readonly kind: 'operator';
  /** As the audit trail names it: "command line". */
  readonly name: string;
}

export const commandLine: OperatorActor = { kind: 'operator', name: 'command line', address: null };

/** Whether they act for the people who run the gateway. */
export function isOperator(actor: Actor): boolean {
  if (actor.kind === 'operator') return true;
  if (actor.kind === 'stranger') return false;
  return actor.kind === 'user' ? actor.operator : actor.workspaceId === null;
}

/** The actor of an audit row: a user's id, "management-key <id>", "stranger", or a name. */
export function actorName(actor: Actor): string {
  if (actor.kind === 'operator') return actor.name;
  if (actor.kind === 'stranger') return 'stranger';
  return actor.kind === 'user' ? actor.userId : `management-key ${actor.keyId}`;
}

/** The user behind an actor; null where there is none. */
export function userOf(actor: Actor): string | null {
  if (actor.kind === 'operator' || actor.kind === 'stranger') return null;
  return actor.kind === 'user' ? actor.userId : actor.madeBy;
}
