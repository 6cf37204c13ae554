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
import { operatorDestinations, operatorHref } from '#components/shell/operator-navigation';
import { operatorWords, pageWords } from '#lib/console/palette-words';
import { rankOf } from '#lib/console/search-rank';
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
  /** Slug of the current workspace; null in the operator area. */
  workspace: string | null;
  workspaces: readonly { readonly slug: string; readonly name: string }[];
  /** Whether the pages of the operator area are offered. */
  operator: boolean;
}

/** The palette's entries for a search text. */
export function useEntries(
  { onOpenChange, onShortcuts, workspace, workspaces, operator }: PaletteProps,
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
    if (workspace === null) return go(`/operator/calls/${encodeURIComponent(id)}`);
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
  const inWorkspace = workspace === null ? nothingThere : entriesOf(workspace, found, go);
  const groups: EntryGroup[] = [
    { label: 'Pages', items: inWorkspace.pages },
    {
      label: 'Operator area',
      items: (operator ? operatorDestinations.flatMap((group) => group.pages) : []).map(
        ({ path, ...shown }) => ({
          value: `operator ${path}`,
          hint: 'Operator area',
          also: operatorWords[path] ?? '',
          ...shown,
          run: () => go(operatorHref(path)),
        }),
      ),
    },
    {
      label: 'Actions',
      items: [
        ...inWorkspace.actions,
        {
          value: 'workspace',
          label: 'New workspace',
          also: 'create add',
          icon: <Plus />,
          run: () => go('/new'),
        },
        {
          value: 'docs',
          label: 'Documentation',
          also: 'docs guide help api errors',
          icon: <BookOpen />,
          run: () => go('/docs'),
        },
        {
          value: 'account',
          label: 'Your account',
          also: 'profile password sessions',
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
          also: 'log out logout',
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
    { label: 'API keys', items: inWorkspace.keys },
    { label: 'Models', items: inWorkspace.models },
  ];
  const usual = groups
    // The names that the server returned are shown only in a search.
    .filter(({ label }) => text !== '' || (label !== 'API keys' && label !== 'Models'))
    .filter(({ items }) => items.length > 0)
    .map((group) => bestFirst(group, text))
    .sort((one, other) => one.rank - other.rank);
  const offered = isLikelyId(text) ? [call, ...usual] : isPossibleId(text) ? [...usual, call] : usual;
  return {
    groups: offered,
    notice: told?.id === text ? told.notice : null,
    find: (id) => (isPossibleId(id) ? void find(id) : undefined),
  };
}

/** A group with the entries first whose labels fit the search best; equal ones keep their order. */
function bestFirst({ label, items }: EntryGroup, text: string) {
  const ranked = items.map((entry) => ({ entry, rank: rankOf(entry.label, text) }));
  ranked.sort((one, other) => one.rank - other.rank);
  return { label, items: ranked.map(({ entry }) => entry), rank: ranked[0]?.rank ?? 0 };
}

const nothingThere = { pages: [], actions: [], keys: [], models: [] };

/** The entries that belong to one workspace. */
function entriesOf(workspace: string, found: Found, go: (href: string) => void) {
  const pages = destinations
    .flatMap((group) => group.pages)
    .map(({ path, ...shown }) => ({
      value: `page ${path}`,
      also: pageWords[path] ?? '',
      ...shown,
      run: () => go(destinationHref(workspace, path)),
    }));
  const actions = [
    {
      value: 'create key',
      label: 'Create API key',
      also: 'new add',
      icon: <Plus />,
      run: () => go(`${destinationHref(workspace, 'keys')}?new=key`),
    },
    {
      value: 'add funds',
      label: 'Add funds',
      also: 'top up topup credit payment card balance',
      icon: <Wallet />,
      run: () => go(destinationHref(workspace, 'billing')),
    },
    {
      value: 'limits',
      label: 'Rate limits',
      also: 'rpm tpm quota caps',
      icon: <Gauge />,
      run: () => go(destinationHref(workspace, 'settings')),
    },
  ];
  const keys = found.keys.map(({ id, name }) => ({
    value: `key ${id}`,
    label: showForeign(name),
    hint: 'API key',
    icon: <KeyRound />,
    run: () => go(`${destinationHref(workspace, 'keys')}/${id}`),
  }));
  const models = found.models.map((id) => ({
    value: `model ${id}`,
    label: id,
    hint: hasPage('models') ? 'Model' : 'its calls',
    icon: <Boxes />,
    run: () => go(modelHref(workspace, id)),
  }));
  return { pages, actions, keys, models };
}

function modelHref(workspace: string, id: string): string {
  const path = id.split('/').map(encodeURIComponent).join('/');
  return hasPage('models')
    ? `/${workspace}/models/${path}`
    : `/${workspace}/logs?model=${encodeURIComponent(id)}`;
}

/** Names of keys and models of a workspace, loaded when the palette opens. */
function useFound(workspace: string | null): Found {
  const [found, setFound] = useState<Found>({ keys: [], models: [] });
  useEffect(() => {
    if (workspace === null) return;
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
