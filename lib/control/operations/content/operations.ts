import { z } from 'zod';
import { getCall } from '#lib/control/operations/call/find';
import { exportContent } from '#lib/control/operations/content/export';
import { findKept, readKept } from '#lib/control/operations/content/read';
import { searchContent } from '#lib/control/operations/content/search';
import { type ShownContent, shownContent } from '#lib/control/operations/content/shown';
import { change } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { id, isUuid } from '#lib/control/operations/field/kinds';
import { keyId } from '#lib/control/operations/key/settings';
import { badInput, notFound, quoted } from '#lib/control/operations/refusal';

const workspace = '/workspaces/{workspace}';

const callId = id({
  label: 'Call',
  help: 'Request id: the X-Request-Id of the answer.',
  placeholder: 'REQUEST_ID',
});

/** Not a read: each reading is in the audit log (contract: content/reading). */
export const showContent = change({
  name: 'content.show',
  summary: 'Shows what a call was asked and answered, if that was kept; each reading is in the audit log.',
  reach: 'workspace',
  permission: 'content:read',
  fields: { id: callId },
  output: shownContent,
  http: [{ method: 'POST', path: `${workspace}/calls/{id}/content` }],
  line: { arguments: ['id'] },
  text: ({ request, answer }) => `${sideText('Request', request)}\n\n${sideText('Answer', answer)}`,
  run: async (context, input) => {
    const call = await getCall(context, input.id);
    const kept = await findKept(context, call.id);
    if (kept === null) throw notKept(call.id);
    return {
      result: {
        id: call.id,
        family: call.family,
        operation: call.operation,
        requestedModel: call.requestedModel,
        request: unread,
        answer: unread,
        keepUntil: kept.keepUntil.toISOString(),
      },
      subject: call.id,
      before: { content: 'kept' },
      after: { content: 'read' },
    };
  },
  follow: async (context, call) => {
    const kept = await readKept(context, call.id);
    if (kept === null) throw notKept(call.id);
    return { ...call, ...kept };
  },
});

/** The answer of a reading until the audit row is committed; `follow` then fills it. */
const unread = { contentType: '', text: null, bytes: 0, cut: false };

function notKept(id: string) {
  return notFound(`no content of the call ${quoted(id)} was kept, or it has been deleted`, 'id');
}

export const deleteContent = change({
  name: 'content.delete',
  summary: 'Deletes what was kept of a call, of all calls of a key, or of all calls of the workspace.',
  reach: 'workspace',
  permission: 'workspace:write',
  fields: { call: optional(callId), key: optional(keyId) },
  output: z.object({
    deleted: z.literal(true),
    gone: z.iso
      .datetime()
      .describe(
        'By when it is deleted from the database and the content store; it can no longer be read from now on.',
      ),
  }),
  http: [{ method: 'DELETE', path: `${workspace}/content` }],
  line: {},
  text: ({ gone }) => `the content cannot be read any more, and is deleted everywhere by ${gone}`,
  run: async (context, { call, key }) => {
    const { store, scope, nowMs } = context;
    const { workspaceId } = scope;
    if (call !== undefined && key !== undefined) {
      throw badInput('key', 'name a call or a key, not both');
    }
    const now = new Date(nowMs);
    const done = (subject: string, hours: number) => ({
      result: { deleted: true as const, gone: new Date(nowMs + hours * 3_600_000).toISOString() },
      subject,
      before: { content: 'kept' },
      after: {
        content: 'deleted',
        of: call === undefined ? (key === undefined ? 'workspace' : 'key') : 'call',
      },
    });
    if (call !== undefined) {
      const found = await getCall(context, call);
      const inStore = (await store.prisma.contentObject.count({ where: { callId: found.id } })) > 0;
      await store.prisma.callContent.deleteMany({ where: { callId: found.id, workspaceId } });
      await store.prisma.keptAnswer.deleteMany({ where: { callId: found.id, workspaceId } });
      return done(found.id, inStore ? 2 : 0);
    }
    if (key === undefined) {
      await store.prisma.workspace.update({ where: { id: workspaceId }, data: { contentDeletedAt: now } });
      await store.prisma.keptAnswer.deleteMany({ where: { workspaceId } });
      return done(workspaceId, 2);
    }
    const changed = isUuid(key)
      ? await store.prisma.apiKey.updateMany({
          where: { id: key, workspaceId },
          data: { contentDeletedAt: now },
        })
      : { count: 0 };
    if (changed.count > 0) await store.prisma.keptAnswer.deleteMany({ where: { keyId: key, workspaceId } });
    if (changed.count === 0) throw notFound(`there is no key ${quoted(key)} in this workspace`, 'key');
    return done(key, 2);
  },
});

function sideText(name: string, { text, bytes, cut }: ShownContent['request']): string {
  const note = cut ? `the first ${bytes} bytes` : `${bytes} bytes`;
  return `${name} (${note}):\n${text ?? '(not text)'}`;
}

export const contentOperations = [showContent, searchContent, exportContent, deleteContent];
