'use client';

import { WorkspaceButton, type WorkspaceSwitcherProps } from '#components/shell/popups/workspace-button';
import { later, OnDemand } from '#components/ui/on-demand';

const OpenWorkspaceSwitcher = later(() =>
  import('#components/shell/popups/open-workspace-switcher').then((all) => all.OpenWorkspaceSwitcher),
);

/** The current workspace, with links to the others. */
export function WorkspaceSwitcher(props: WorkspaceSwitcherProps) {
  return (
    <OnDemand
      popup="menu"
      button={(button) => <WorkspaceButton name={props.current.name} {...button} />}
      opened={<OpenWorkspaceSwitcher {...props} />}
    />
  );
}
