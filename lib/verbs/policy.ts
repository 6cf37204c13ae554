import { z } from 'zod';
import type { Db } from '#lib/data/db';
import { policyShape } from '#lib/schemas/policy';
import { isUuid } from '#lib/verbs/inputs';
import { lockWorkspace } from '#lib/verbs/subject';
import { parseInput, runVerb, VerbRefused } from '#lib/verbs/verb';

const schema = z.strictObject({
  workspace: z.string(),
  /** "" is the workspace's default policy. */
  model: z.string().default(''),
  policy: policyShape,
});
export type SetPolicyInput = z.input<typeof schema>;

/**
 * Puts a routing policy in force for a workspace, or for one model in it (decisions §12). Earlier
 * versions stay as history.
 */
export async function setPolicy(db: Db, actor: string, input: SetPolicyInput): Promise<{ version: number }> {
  const { workspace, model, policy } = parseInput(schema, input);
  return runVerb(db, actor, async (tx) => {
    // The lock on the workspace makes version numbers of one policy follow each other.
    const { id } = await lockWorkspace(tx, workspace);
    if (model !== '' && (await tx.model.count({ where: { id: model } })) === 0) {
      throw new VerbRefused(`there is no model "${model}"; take an id from the catalogue`, 'model');
    }
    const newest = await tx.policy.aggregate({
      where: { workspaceId: id, modelId: model },
      _max: { version: true },
    });
    const version = (newest._max.version ?? 0) + 1;
    const createdBy = isUuid(actor) ? actor : null;
    const stored = JSON.parse(JSON.stringify(policy));
    await tx.policy.create({ data: { workspaceId: id, modelId: model, version, policy: stored, createdBy } });
    return {
      result: { version },
      audit: { workspaceId: id, action: 'policy.set', subject: id, detail: { model, version, policy } },
      changes: [{ kind: 'policy', subject: id }],
    };
  });
}
