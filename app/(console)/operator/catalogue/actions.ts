'use server';

import { readShippedCatalogue } from '#lib/console/gateway/shipped-catalogue';
import { type ActionResult, refused } from '#lib/console/operation';
import { operatorAction } from '#lib/console/operator';
import { applyCatalogue } from '#lib/control/operations/catalogue/apply';
import { compareCatalogueOperation } from '#lib/control/operations/catalogue/compare';

const apply = operatorAction(applyCatalogue);

export const compareFilesAction = operatorAction(compareCatalogueOperation);

export const applyFilesAction = operatorAction(applyCatalogue);

/** Applies the files that come with this version, so that the browser need not send them. */
export async function applyShippedAction(input: {
  prune: boolean;
}): Promise<ActionResult<{ changes: string[]; leftOut: string[] }>> {
  const files = await readShippedCatalogue();
  if (files === null) return refused('This installation does not include catalogue files.');
  return apply({ files, prune: input?.prune === true });
}
