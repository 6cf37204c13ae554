'use client';

import { Crown, LogOut, UserCog, UserMinus } from 'lucide-react';
import { useState } from 'react';
import { ConfirmDialog } from '#components/form/confirm-dialog';
import { useMemberPage } from '#components/members/member-actions';
import { MemberMenuButton } from '#components/members/popups/member-menu-button';
import { StoppingKeys } from '#components/members/stopping-keys';
import { labelStyle } from '#components/ui/field';
import { Menu, MenuItem } from '#components/ui/menu';
import { NativeSelect } from '#components/ui/native-select';
import { choiceName } from '#lib/console/form';
import type { MemberRow } from '#lib/console/team/member-rows';

type Asked = 'role' | 'remove' | 'transfer' | 'leave' | null;

/** The actions on a member; open when it first appears. */
export function OpenMemberMenu({ row }: { row: MemberRow }) {
  const { actions, workspace, locked, changesOwners, roles } = useMemberPage();
  const [asked, ask] = useState<Asked>(null);
  const [role, setRole] = useState<string>(row.role);
  const member = row.id;
  const who = row.name ?? row.email;
  const mayChange = locked === null && (row.role !== 'owner' || changesOwners);
  const askRole = () => {
    // Discards a choice that was canceled before.
    setRole(row.role);
    ask('role');
  };
  const close = (open: boolean) => {
    if (!open) ask(null);
  };
  const dialog = (which: Asked) => ({ open: asked === which, onOpenChange: close });
  return (
    <>
      <Menu className="w-60" startOpen trigger={<MemberMenuButton email={row.email} />}>
        {locked ? <p className="px-2 py-1.5 text-muted text-xs leading-4">{locked}</p> : null}
        {!locked && !mayChange ? (
          <p className="px-2 py-1.5 text-muted text-xs leading-4">Only owners can change owners.</p>
        ) : null}
        <MenuItem disabled={!mayChange} onSelect={askRole}>
          <UserCog />
          Change role…
        </MenuItem>
        {row.you || !changesOwners ? null : (
          <MenuItem onSelect={() => ask('transfer')}>
            <Crown />
            Transfer ownership…
          </MenuItem>
        )}
        {row.you ? (
          <MenuItem danger onSelect={() => ask('leave')}>
            <LogOut />
            Leave workspace…
          </MenuItem>
        ) : (
          <MenuItem danger disabled={!mayChange} onSelect={() => ask('remove')}>
            <UserMinus />
            Remove…
          </MenuItem>
        )}
      </Menu>
      <ConfirmDialog
        {...dialog('role')}
        title={`Change the role of ${who}`}
        tone="primary"
        verb={{ idle: 'Change role', pending: 'Changing…' }}
        blocked={role === row.role}
        act={() => actions.set(workspace, { member, role }, row.seen)}
        done={`${who} now has the role ${role}`}
      >
        <div className="grid gap-1.5">
          <span className={labelStyle}>Role</span>
          <NativeSelect
            label="Role"
            value={role}
            options={roles.map((value) => ({ value, label: choiceName({}, value) }))}
            onChange={setRole}
          />
        </div>
        {role === row.role ? null : <StoppingKeys member={member} role={role} />}
      </ConfirmDialog>
      <ConfirmDialog
        {...dialog('remove')}
        title={`Remove ${who}?`}
        description="They lose access immediately. Their calls stay in the log and their changes in the audit log."
        verb={{ idle: 'Remove member', pending: 'Removing…' }}
        act={() => actions.remove(workspace, { member }, row.seen)}
        done={`${who} removed`}
      >
        <StoppingKeys member={member} />
      </ConfirmDialog>
      <ConfirmDialog
        {...dialog('transfer')}
        title={`Transfer ownership to ${who}?`}
        description="They become an owner and you become an admin. Your management keys with the role owner are revoked. Only an owner can undo this."
        verb={{ idle: 'Transfer ownership', pending: 'Transferring…' }}
        act={() => actions.transfer(workspace, { workspace, member })}
        done={`${who} is now an owner`}
      />
      <ConfirmDialog
        {...dialog('leave')}
        title="Leave this workspace?"
        description="You lose access immediately: API keys that you created stop working, and your management keys are revoked. To come back, you need a new invitation."
        verb={{ idle: 'Leave workspace', pending: 'Leaving…' }}
        keep="Stay"
        act={() => actions.leave(workspace, { workspace })}
        done="You left the workspace"
        onDone={() => window.location.assign('/')}
      />
    </>
  );
}
