import { z } from 'zod';
import type { Workspace } from '#generated/client';
import { budgetModes } from '#lib/control/billing/month';
import {
  allowance,
  cap,
  choice,
  count,
  limit,
  line,
  lines,
  name,
  toggle,
} from '#lib/control/operations/field/kinds';
import { timeZone } from '#lib/control/operations/field/people';
import { shapeOf, shownSettings } from '#lib/control/operations/field/settings';
import { workspaceRefusing } from '#lib/control/operations/workspace/refusing';
import { mostPatterns, PatternFault, readPatterns } from '#lib/gateway/content/pure/masks/own';
import { longestCacheSeconds } from '#lib/gateway/repeats/pure/wish';

/** Which calls have their content kept (contract: content/which). */
const contentModes = ['off', 'errors', 'all'] as const;
/** What forms call them; a key may also do as its workspace. */
export const contentNames = { off: 'Off', errors: 'Failed calls', all: 'All calls' } as const;

/** Which requests are answered from the cache (contract: repeats/settings). */
const cacheModes = ['off', 'asked', 'all'] as const;
export const cacheNames = { off: 'Off', asked: 'Requests that ask for it', all: 'All requests' } as const;

const limits = { title: 'Rate limits', help: 'Limits of the workspace, in addition to those of its keys.' };

/** The settings of a workspace, when it is created and later. */
export const workspaceSettings = {
  name: name({ label: 'Name', help: 'Display name.', example: 'Acme Labs' }),
  credit: allowance({
    label: 'Credit limit',
    help: 'Amount that it may spend beyond its balance.',
    example: '10',
    permission: 'gateway:write',
  }),
  timeZone: timeZone({
    label: 'Time zone',
    help: 'Determines the days of caps, usage and the log.',
    example: 'Europe/Berlin',
  }),
  rpm: limit({
    label: 'Requests a minute',
    help: '',
    unit: 'requests a minute',
    group: limits,
    example: 600,
  }),
  tpm: limit({
    label: 'Tokens a minute',
    help: '',
    unit: 'tokens a minute',
    group: limits,
    example: 4_000_000,
  }),
  concurrency: limit({
    label: 'Concurrent calls',
    help: '',
    unit: 'concurrent calls',
    group: limits,
    example: 50,
  }),
  retentionDays: limit({
    label: 'Log retention (days)',
    unit: 'days',
    help: 'Older calls are hidden at once and deleted soon after; the ledger and usage totals are kept.',
    empty: 'Gateway default',
    example: 30,
  }),
  content: choice(
    {
      label: 'Keep content',
      help: 'Keeps requests and answers of calls, sealed, for those who may read them: of no calls, of failed ones or of all.',
      example: 'errors',
      choiceNames: contentNames,
    },
    contentModes,
  ),
  contentShare: count(
    {
      label: 'Share of calls (%)',
      help: 'How many of these calls are kept; 100 keeps all.',
      unit: 'percent',
      example: 100,
    },
    { min: 1, max: 100 },
  ),
  contentDays: count(
    {
      label: 'Content retention (days)',
      help: 'After this time it is deleted. The log of calls has its own setting.',
      unit: 'days',
      example: 7,
    },
    { min: 1, max: 90 },
  ),
  maskKeys: toggle({
    label: 'Mask keys and passwords',
    help: 'Masks API keys, tokens, passwords and private keys in content before it is kept.',
    example: true,
  }),
  maskMail: toggle({
    label: 'Mask email addresses',
    help: 'Masks mail addresses in content before it is kept.',
    example: true,
  }),
  maskCards: toggle({
    label: 'Mask card numbers',
    help: 'Masks numbers of 13 to 19 digits that pass the check of card numbers (Luhn).',
    example: true,
  }),
  maskPhones: toggle({
    label: 'Mask phone numbers',
    help: 'Masks phone numbers in content before it is kept.',
    example: true,
  }),
  maskPatterns: lines(
    {
      label: 'Own patterns',
      help: `One "name: pattern" a line, at most ${mostPatterns}, in RE2 syntax; what they match is masked, too.`,
      empty: 'None',
      example: 'staff number: EMP-[0-9]{6}',
    },
    4_000,
    (text) => {
      try {
        readPatterns(text);
        return null;
      } catch (error) {
        if (error instanceof PatternFault) return error.message;
        throw error;
      }
    },
  ),
  idempotency: toggle({
    label: 'Repeat answers',
    help: 'Repeats the answer to a request with an Idempotency-Key for 24 hours, without another call.',
    example: true,
  }),
  cache: choice(
    {
      label: 'Cache answers',
      help: 'Answers the same request from the cache: no request, those with the header X-Gateway-Cache, or all.',
      example: 'asked',
      choiceNames: cacheNames,
    },
    cacheModes,
  ),
  cacheSeconds: count(
    {
      label: 'Seconds in the cache',
      help: 'For requests that do not say it themselves.',
      unit: 'seconds',
      example: 3600,
    },
    { min: 1, max: longestCacheSeconds },
  ),
  tags: toggle({
    label: 'Tags',
    help: 'Records what calls are for: pairs of the header X-Gateway-Tags and of "metadata".',
    example: true,
  }),
  endUsers: toggle({
    label: 'End users',
    help: 'Records whom calls are for: the app’s own id of its user in a request.',
    example: true,
  }),
  strict: toggle({
    label: 'Strict budget',
    help: 'Reserves the maximum cost of each call, so that the balance never falls below 0.',
    example: true,
  }),
  budget: cap({
    label: 'Monthly budget',
    help: 'For each calendar month in the time zone of the workspace.',
    empty: 'No budget',
    example: '100',
    permission: 'billing:write',
  }),
  budgetMode: choice(
    {
      label: 'Mode of the budget',
      help: 'Only warns, or refuses calls when the budget is used up.',
      example: 'hard',
      permission: 'billing:write',
    },
    budgetModes,
  ),
};

/** Of operators; the reason and the contact end with the suspension (contract: control-plane/suspended). */
export const suspension = {
  suspended: toggle({
    label: 'Suspended',
    help: 'Every call is refused, and only operators can change anything.',
    example: false,
    permission: 'gateway:write',
  }),
  suspendedReason: line({
    label: 'Reason',
    help: 'Shown to the members of the workspace while it is suspended.',
    example: 'Unpaid October invoice',
    permission: 'gateway:write',
  }),
  suspendedContact: line(
    {
      label: 'Contact',
      help: 'Whom its members should ask: an email address or a link.',
      example: 'support@example.com',
      permission: 'gateway:write',
    },
    200,
  ),
};

/** Default limits of a new workspace (contract: limits/defaults). */
export const newWorkspaceLimits = { rpm: 600, tpm: 4_000_000, concurrency: 50 };

const dollars = z.string().describe('Dollars as a decimal string.');

/** What can be changed; the entity tag and audit rows are built from it. */
const stateShape = {
  slug: z.string().describe('Used in the addresses of pages and of the API.'),
  ...shapeOf(workspaceSettings),
  suspended: z.boolean(),
  suspendedReason: z
    .string()
    .nullable()
    .describe('What its members read; null: no reason, or not suspended.'),
  suspendedContact: z.string().nullable().describe('Whom its members should ask.'),
};
export const changedWorkspace = z.object({ id: z.uuid(), ...stateShape });

export const listedWorkspace = z.object({
  ...changedWorkspace.shape,
  balance: dollars.describe('Sum of the ledger, dollars as a decimal string.'),
  simulated: dollars.describe(
    'The part of the balance that is simulated money, which pays only the simulated provider.',
  ),
  held: dollars.describe('Held by running calls and jobs.'),
  available: dollars.describe('Balance + credit − held.'),
  refusing: workspaceRefusing
    .nullable()
    .describe('By what calls of all its keys are refused now, as far as that is known; null: nothing.'),
  createdAt: z.iso.datetime(),
});
export type ListedWorkspace = z.output<typeof listedWorkspace>;

/** A workspace as "workspace show" prints it (contract: operations/workspace-show). */
export const shownWorkspace = z.object({
  ...listedWorkspace.shape,
  keys: z.array(z.object({ id: z.uuid(), name: z.string(), status: z.string(), display: z.string() })),
});
export type ShownWorkspace = z.output<typeof shownWorkspace>;

const stateSchema = z.object(stateShape);
export type WorkspaceState = z.output<typeof stateSchema>;

export function stateOfRow(row: Workspace): WorkspaceState {
  return {
    slug: row.slug,
    ...shownSettings(workspaceSettings, row),
    suspended: row.suspendedAt !== null,
    suspendedReason: row.suspendedReason,
    suspendedContact: row.suspendedContact,
  };
}

/** The state within a shown workspace. */
export function stateOfShown(workspace: ShownWorkspace): WorkspaceState {
  return stateSchema.parse(workspace);
}
