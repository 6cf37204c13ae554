import { z } from 'zod';
import { change, create, read, type State } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import {
  choice,
  id as idField,
  isUuid,
  name,
  time,
  wordList,
  words,
} from '#lib/control/operations/field/kinds';
import { limitOf, pageOf, paging, placeOf, placeText } from '#lib/control/operations/field/paging';
import {
  incident,
  incidentStates,
  pageOfIncidents,
  type ShownIncident,
} from '#lib/control/operations/incident/find';
import { badInput, conflict, notFound, quoted } from '#lib/control/operations/refusal';
import { impacts } from '#lib/control/operations/status/figures';
import type { Store } from '#lib/control/operations/store';
import { newRowId } from '#lib/platform/data/row-id';

const incidents = '/incidents';
const text = words(
  {
    label: 'Text',
    help: 'Shown to the public: what does not work, and what is being done about it.',
    example: 'Calls to some models take longer than usual; we are looking into it.',
  },
  2000,
);
const ofOne = { id: idField({ label: 'Incident', help: 'Its id.' }) };
const answer = z.object({ id: z.uuid(), state: z.enum(incidentStates) });

export const createIncident = create({
  name: 'incident.create',
  summary: 'Opens an incident on the status page.',
  reach: 'gateway',
  permission: 'gateway:write',
  fields: {
    title: name({ label: 'Title', help: 'A few words.', example: 'Slow answers' }),
    impact: choice({ label: 'Impact', help: 'Severity.', example: 'degraded' }, impacts),
    text,
    affects: optional(
      wordList({
        label: 'Affects',
        help: 'Ids of providers, or "gateway" for the gateway itself. Default: gateway.',
        placeholder: 'a,b',
        example: ['gateway'],
      }),
    ),
    startedAt: optional(
      time({
        label: 'Began',
        help: 'Default: now.',
        flag: 'started',
        example: '2026-11-22T10:00:00Z',
      }),
    ),
  },
  output: answer,
  http: [{ method: 'POST', path: incidents }],
  line: {},
  text: ({ id }) => `incident ${id} opened; it is on the status page`,
  run: async ({ store, nowMs }, { title, impact, text: first, affects = ['gateway'], startedAt }) => {
    await checkAffected(store, affects);
    if (startedAt && startedAt.getTime() > nowMs) {
      throw badInput('startedAt', 'must not be in the future');
    }
    const id = newRowId();
    const state = 'investigating' as const;
    const row = { id, title, impact, affects: [...new Set(affects)], state };
    await store.prisma.incident.create({ data: { ...row, startedAt: startedAt ?? new Date(nowMs) } });
    await addUpdate(store, id, state, first);
    const after = stateOfRow({ ...row, text: first, updates: 1 });
    return { result: { id, state }, subject: id, before: null, after };
  },
});

/** Refuses anything but providers and the gateway, which would show nowhere. @throws ControlRefused. */
async function checkAffected({ prisma }: Store, affects: readonly string[]): Promise<void> {
  if (affects.length === 0) throw badInput('affects', 'name what is affected, such as gateway');
  const found = await prisma.provider.findMany({ where: { id: { in: [...affects] } }, select: { id: true } });
  const known = new Set(['gateway', ...found.map(({ id }) => id)]);
  const unknown = affects.find((one) => !known.has(one));
  if (unknown === undefined) return;
  throw badInput('affects', `there is no provider ${quoted(unknown)}; use "gateway" or the id of a provider`);
}

export const updateIncident = change({
  name: 'incident.update',
  summary: 'Adds an update to an open incident.',
  reach: 'gateway',
  permission: 'gateway:write',
  fields: {
    ...ofOne,
    text,
    state: optional(
      choice({ label: 'State', help: 'Default: unchanged.', example: 'identified' }, [
        'investigating',
        'identified',
        'monitoring',
      ]),
    ),
    impact: optional(choice({ label: 'Impact', help: 'Default: unchanged.' }, impacts)),
  },
  output: answer,
  http: [{ method: 'POST', path: `${incidents}/{id}/updates` }],
  line: { arguments: ['id'] },
  text: ({ id, state }) => `incident ${id}: ${state}`,
  run: async ({ store, expect }, { id, text: said, state, impact }) => {
    const before = await lockIncident(store, id);
    expect(stateOfRow(before));
    if (before.resolvedAt !== null) {
      throw conflict('this incident is resolved; open a new one', 'id');
    }
    const data = { state: state ?? before.state, impact: impact ?? before.impact };
    const row = await store.prisma.incident.update({ where: { id }, data });
    const now = stateIn(row.state);
    await addUpdate(store, id, now, said);
    return {
      result: { id, state: now },
      subject: id,
      before: stateOfRow(before),
      after: stateOfRow({ ...row, text: said, updates: before.updates + 1 }),
    };
  },
});

export const resolveIncident = change({
  name: 'incident.resolve',
  summary: 'Resolves an incident; resolving it again changes nothing.',
  reach: 'gateway',
  permission: 'gateway:write',
  fields: { ...ofOne, text },
  output: answer,
  http: [{ method: 'POST', path: `${incidents}/{id}/resolve` }],
  line: { arguments: ['id'] },
  text: ({ id }) => `incident ${id} is resolved`,
  run: async ({ store, nowMs, expect }, { id, text: said }) => {
    const before = await lockIncident(store, id);
    expect(stateOfRow(before));
    const state = 'resolved' as const;
    const done = { result: { id, state }, subject: id };
    if (before.resolvedAt !== null) {
      const same = stateOfRow(before);
      return { ...done, before: same, after: same };
    }
    const resolvedAt = new Date(Math.max(nowMs, before.startedAt.getTime()));
    const row = await store.prisma.incident.update({ where: { id }, data: { state, resolvedAt } });
    await addUpdate(store, id, state, said);
    const after = stateOfRow({ ...row, text: said, updates: before.updates + 1 });
    return { ...done, before: stateOfRow(before), after };
  },
});

export const listIncidents = read({
  name: 'incident.list',
  summary: 'Lists the incidents of the status page, newest first.',
  reach: 'gateway',
  permission: 'gateway:read',
  fields: paging,
  output: pageOf(incident),
  http: [{ method: 'GET', path: incidents }],
  line: { columns: ['id', 'startedAt', 'resolvedAt', 'state', 'impact', 'affects', 'title'] },
  run: async ({ store }, input) => {
    const limit = limitOf(input);
    const after = input.after === undefined ? null : placeOf(input.after, 'a page of incidents');
    const found = await pageOfIncidents(store, after, limit + 1);
    const data = found.slice(0, limit);
    const last = found.length > limit ? data.at(-1) : undefined;
    return { data, next: last ? placeText({ at: new Date(last.startedAt), id: last.id }) : null };
  },
});

export const incidentOperations = [createIncident, updateIncident, resolveIncident, listIncidents];

/** With the text of its latest update; locked until the transaction ends. @throws ControlRefused not_found. */
async function lockIncident(store: Store, id: string) {
  const found = isUuid(id)
    ? await store.query('SELECT 1 AS one FROM incident WHERE id = $1::uuid FOR UPDATE', [id])
    : [];
  if (found.length === 0) throw notFound(`there is no incident ${quoted(id)}; check its id`, 'id');
  const { updates, ...row } = await store.prisma.incident.findUniqueOrThrow({
    where: { id },
    include: { updates: { orderBy: { id: 'desc' } } },
  });
  return { ...row, text: updates[0]?.text ?? '', updates: updates.length };
}

async function addUpdate(store: Store, incidentId: string, state: string, said: string): Promise<void> {
  await store.prisma.incidentUpdate.create({ data: { id: newRowId(), incidentId, state, text: said } });
}

function stateIn(stored: string) {
  return incidentStates.find((one) => one === stored) ?? 'investigating';
}

interface SaidOf {
  readonly title: string;
  readonly impact: string;
  readonly affects: readonly string[];
  readonly state: string;
  /** Text of the latest update, and number of updates. */
  readonly text: string;
  readonly updates: number;
}

/** The state of an incident that a page shows, for its entity tag. */
export function stateOfIncident({ updates, ...shown }: ShownIncident): State {
  return stateOfRow({ ...shown, text: updates[0]?.text ?? '', updates: updates.length });
}

function stateOfRow({ title, impact, affects, state, text: said, updates }: SaidOf): State {
  return { title, impact, affects, state, text: said, updates };
}
