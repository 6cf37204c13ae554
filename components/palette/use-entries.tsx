'use client';

import {
  ArrowLeftRight,
  BookOpen,
  Boxes,
  Gauge,
  Keyboard,
  KeyRound,
  LogOut,
  Monitor,
  Moon,
  Plus,
  ScanSearch,
  Sun,
  UserRound,
  Wallet,
} from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useTheme } from 'next-themes';
import { useEffect, useState } from 'react';
import { leave } from '#components/account/leave';
import {
  type EntryGroup,
  type Found,
  type FoundCall,
  isLikelyId,
  isPossibleId,
} from '#components/palette/entries';
import { destinationHref, destinations, hasPage } from '#components/shell/navigation';
import { showForeign } from '#lib/console/show/foreign';

const themes = [
  { value: 'light', label: 'Light theme', icon: <Sun /> },
  { value: 'dark', label: 'Dark theme', icon: <Moon /> },
  { value: 'system', label: 'System theme', icon: <Monitor /> },
] as const;

interface Entries {
  readonly groups: readonly EntryGroup[];
  /** The result of a search for a call; null: none was made. */
  readonly notice: string | null;
  /** Opens the call with this id. */
  find(id: string): void;
}

export interface PaletteProps {
  open: boolean;
  onOpenChange(open: boolean): void;
  /** Opens the list of shortcuts. */
  onShortcuts(): void;
  /** Slug of the current workspace. */
  workspace: string;
  workspaces: readonly { readonly slug: string; readonly name: string }[];
}

/** The palette's entries for a search text. */
export function useEntries(
  { onOpenChange, onShortcuts, workspace, workspaces }: PaletteProps,
  text: string,
): Entries {
  const router = useRouter();
  const { setTheme } = useTheme();
  const found = useFound(workspace);
  const [told, setTold] = useState<{ readonly id: string; readonly notice: string } | null>(null);

  function go(href: string) {
    onOpenChange(false);
    router.push(href);
  }

  async function find(id: string) {
    setTold({ id, notice: 'Looking for the call…' });
    const answer = await fetch(`/${workspace}/find?id=${encodeURIComponent(id)}`).catch(() => null);
    const call = answer?.ok ? await readCall(answer) : null;
    if (call?.href) return go(call.href);
    setTold({
      id,
      notice: call
        ? 'No call in this workspace has this id. Calls appear within 2 seconds of ending.'
        : 'The search failed. Try again.',
    });
  }

  const call: EntryGroup = {
    label: 'Call',
    items: [
      {
        value: `call ${text}`,
        label: `Find the call ${text}`,
        icon: <ScanSearch />,
        run: () => void find(text),
      },
    ],
  };
  const pages = destinations.flatMap((group) => group.pages);
  const groups: EntryGroup[] = [
    {
      label: 'Pages',
      items: pages.map(({ path, label, icon }) => ({
        value: `page ${path}`,
        label,
        icon,
        run: () => go(destinationHref(workspace, path)),
      })),
    },
    {
      label: 'Actions',
      items: [
        {
          value: 'create key',
          label: 'Create API key',
          icon: <Plus />,
          run: () => go(`${destinationHref(workspace, 'keys')}?new=key`),
        },
        {
          value: 'add funds',
          label: 'Add funds',
          also: 'top up, topup, credit, payment, card, balance',
          icon: <Wallet />,
          run: () => go(destinationHref(workspace, 'billing')),
        },
        {
          value: 'limits',
          label: 'Rate limits',
          also: 'rpm, tpm, quota, caps',
          icon: <Gauge />,
          run: () => go(destinationHref(workspace, 'settings')),
        },
        {
          value: 'docs',
          label: 'Documentation',
          also: 'docs, guide, help, api, errors',
          icon: <BookOpen />,
          run: () => go('/docs'),
        },
        {
          value: 'account',
          label: 'Your account',
          also: 'profile, password, sessions',
          icon: <UserRound />,
          run: () => go('/account'),
        },
        ...themes.map(({ value, label, icon }) => ({
          value: `theme ${value}`,
          label,
          icon,
          run: () => {
            setTheme(value);
            onOpenChange(false);
          },
        })),
        { value: 'shortcuts', label: 'Keyboard shortcuts', hint: '?', icon: <Keyboard />, run: onShortcuts },
        {
          value: 'sign out',
          label: 'Sign out',
          also: 'log out, logout',
          icon: <LogOut />,
          run: () => void leave(),
        },
      ],
    },
    {
      label: 'Workspaces',
      items: workspaces
        .filter(({ slug }) => slug !== workspace)
        .map(({ slug, name }) => ({
          value: `workspace ${slug}`,
          label: `Switch to ${name}`,
          hint: slug,
          icon: <ArrowLeftRight />,
          run: () => go(`/${slug}`),
        })),
    },
    {
      label: 'API keys',
      items: found.keys.map(({ id, name }) => ({
        value: `key ${id}`,
        label: showForeign(name),
        hint: 'API key',
        icon: <KeyRound />,
        run: () => go(`${destinationHref(workspace, 'keys')}/${id}`),
      })),
    },
    {
      label: 'Models',
      items: found.models.map((id) => ({
        value: `model ${id}`,
        label: id,
        hint: hasPage('models') ? 'Model' : 'its calls',
        icon: <Boxes />,
        run: () => go(modelHref(workspace, id)),
      })),
    },
  ];
  const usual = groups
    // The names that the server returned are shown only in a search.
    .filter(({ label }) => text !== '' || (label !== 'API keys' && label !== 'Models'))
    .filter(({ items }) => items.length > 0);
  const offered = isLikelyId(text) ? [call, ...usual] : isPossibleId(text) ? [...usual, call] : usual;
  return {
    groups: offered,
    notice: told?.id === text ? told.notice : null,
    find: (id) => (isPossibleId(id) ? void find(id) : undefined),
  };
}

function modelHref(workspace: string, id: string): string {
  const path = id.split('/').map(encodeURIComponent).join('/');
  return hasPage('models')
    ? `/${workspace}/models/${path}`
    : `/${workspace}/logs?model=${encodeURIComponent(id)}`;
}

/** Names of keys and models, loaded when the palette opens. */
function useFound(workspace: string): Found {
  const [found, setFound] = useState<Found>({ keys: [], models: [] });
  useEffect(() => {
    const abort = new AbortController();
    fetch(`/${workspace}/find`, { signal: abort.signal })
      .then((answer) => (answer.ok && !answer.redirected ? readFound(answer) : null))
      .then(
        (read) => read && setFound(read),
        // Without them, the palette can still open pages and calls.
        () => undefined,
      );
    return () => abort.abort();
  }, [workspace]);
  return found;
}

/** Our own route returns this shape. */
async function readFound(answer: Response): Promise<Found> {
  return (await answer.json()) as Found;
}

/** Our own route returns this shape. */
async function readCall(answer: Response): Promise<FoundCall> {
  return (await answer.json()) as FoundCall;
}
