import { showAgo, showDay, showMoment, showZone } from '#lib/console/show/time';
import type { ShownInvitation } from '#lib/control/operations/invitation/settings';
import { stateOf } from '#lib/control/operations/member/change';
import type { ShownMember } from '#lib/control/operations/member/settings';
import { etagOf } from '#lib/control/operations/state';
import type { Role } from '#lib/core/role';
import { showMoney } from '#lib/core/show-money';

interface Place {
  readonly timeZone: string;
  readonly nowMs: number;
}

/** A member, formatted. */
export interface MemberRow {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: Role;
  /** Entity tag of what is shown. */
  readonly seen: string;
  readonly since: { readonly text: string; readonly exact: string };
  /** Cost of the calls of this month with the keys that the member made. */
  readonly spend: { readonly text: string; readonly exact: string; readonly href: string };
  /** Whether this is the viewer. */
  readonly you: boolean;
}

/** @param spent in dollars; undefined: nothing. @param href the usage of the member. */
export function memberRowOf(
  member: ShownMember,
  userId: string,
  { spent = '0', href, ...place }: Place & { readonly spent?: string | undefined; readonly href: string },
): MemberRow {
  const { id, email, name, role } = member;
  const spend = { text: showMoney(spent), exact: `$${spent}`, href };
  const seen = etagOf(stateOf(member));
  return { id, email, name, role, seen, spend, since: dayOf(member.since, place), you: id === userId };
}

/** An open invitation, formatted. */
export interface InvitationRow {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly invitedBy: string;
  readonly expired: boolean;
  /** "2 h ago". */
  readonly sent: { readonly text: string; readonly exact: string };
  /** "in 6 d", or "expired 3 h ago". */
  readonly ends: { readonly text: string; readonly exact: string };
}

export function invitationRowOf(one: ShownInvitation, place: Place): InvitationRow {
  const { id, email, role, invitedBy, state } = one;
  const expired = state === 'expired';
  const ends = agoOf(one.expiresAt, place);
  return {
    id,
    email,
    role,
    expired,
    invitedBy: invitedBy ?? 'the operator',
    sent: agoOf(one.sentAt, place),
    ends: expired ? { ...ends, text: `expired ${ends.text}` } : ends,
  };
}

function dayOf(iso: string, { timeZone, nowMs }: Place) {
  const atMs = Date.parse(iso);
  return { text: showDay(atMs, timeZone), exact: exactOf(atMs, timeZone, nowMs) };
}

function agoOf(iso: string, { timeZone, nowMs }: Place) {
  const atMs = Date.parse(iso);
  return { text: showAgo(atMs, nowMs), exact: exactOf(atMs, timeZone, nowMs) };
}

function exactOf(atMs: number, timeZone: string, nowMs: number): string {
  return `${showMoment(atMs, timeZone)} (${showZone(timeZone, nowMs)})`;
}
