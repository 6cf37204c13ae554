'use server';

import { type FirstRunState, firstRunStateOf } from '#lib/console/first-run';
import { type ActionResult, operationAction } from '#lib/console/operation';
import { showFirstRun } from '#lib/control/operations/workspace/first-run';

const read = operationAction(showFirstRun);

/** Polled while a user waits for their first call. */
export async function readFirstRun(workspace: string): Promise<ActionResult<FirstRunState>> {
  const answer = await read(workspace, {});
  return answer.ok ? { ok: true, value: firstRunStateOf(answer.value) } : answer;
}
