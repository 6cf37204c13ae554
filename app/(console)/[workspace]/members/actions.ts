'use server';

import { operationAction } from '#lib/console/operation';
import {
  cancelInvitation,
  createInvitation,
  linkInvitation,
  resendInvitation,
} from '#lib/control/operations/invitation/operations';
import { whatStops } from '#lib/control/operations/member/keys';
import { removeMember, setMember } from '#lib/control/operations/member/operations';
import { leaveWorkspace, transferOwnership } from '#lib/control/operations/member/own';

export const inviteAction = operationAction(createInvitation);

export const resendAction = operationAction(resendInvitation);

export const linkAction = operationAction(linkInvitation);

export const cancelAction = operationAction(cancelInvitation);

export const setMemberAction = operationAction(setMember);

export const removeMemberAction = operationAction(removeMember);

export const leaveAction = operationAction(leaveWorkspace);

export const transferAction = operationAction(transferOwnership);

export const whatStopsAction = operationAction(whatStops);
