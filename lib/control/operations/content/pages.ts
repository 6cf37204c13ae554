import { createHash } from 'node:crypto';
import { z } from 'zod';
import { actorName } from '#lib/control/operations/actor';
import type { Context } from '#lib/control/operations/declare';
import { badInput, conflict } from '#lib/control/operations/refusal';
import { open, seal } from '#lib/platform/sealing';

/** How long one may go on from page to page, ms. */
export const longestMs = 24 * 3_600_000;

const placeShape = z.object({ id: z.uuid(), untilMs: z.number(), of: z.string() });

/** Where a page ended, and until when the next one can be read, ms since the epoch. */
export type Place = Pick<z.output<typeof placeShape>, 'id' | 'untilMs'>;

/** Filters as JSON; amounts as digits. */
export function filtersText(filters: object): string {
  return JSON.stringify(filters, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}

/**
 * The pages of an export or a search of kept content. Only the first one is recorded in the audit log, so the name of
 * each next page is sealed, and bound to who asked and to the filters (contract: content/export, content/search).
 */
export function pagesOf(
  { actor, scope, sealingKey, nowMs }: Context<'workspace'>,
  kind: 'export' | 'search',
  given: object,
) {
  const contextText = `content-${kind}:${scope.workspaceId}`;
  const binding = createHash('sha256')
    .update(`${actorName(actor)} ${filtersText(given)}`)
    .digest('base64url');
  return {
    tokenOf(place: Place): string {
      if (sealingKey === null)
        throw conflict('set ENCRYPTION_KEY for this process; kept content cannot be decrypted without it');
      return seal(JSON.stringify({ ...place, of: binding }), sealingKey, contextText);
    },
    /** @throws ControlRefused (invalid_body) for an `after` of another one, or one that is too old. */
    placeOf(after: string): Place {
      const foreign = badInput(
        'after',
        `this is not the "next" of a page of this ${kind}; begin again without it`,
      );
      if (sealingKey === null) throw foreign;
      try {
        const { of, ...place } = placeShape.parse(JSON.parse(open(after, sealingKey, contextText)));
        if (of === binding && place.untilMs > nowMs) return place;
      } catch {
        // Altered, or sealed with another key.
      }
      throw foreign;
    },
  };
}
