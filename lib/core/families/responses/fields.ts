import { stateFields } from '#lib/core/families/reading/stored-state';
import { abilityFields } from '#lib/core/families/responses/abilities';
import { keptOfItem } from '#lib/core/families/responses/references';
import type { FieldSpec } from '#lib/core/families/scan';

/** Types of tools that the provider runs; only these are collected. */
const providerTool = /^(?!(function|custom|local_shell|apply_patch|computer|computer_use_preview)$)/;

const once = { guarded: true } as const;
const unread = { guarded: true, unread: true } as const;

const environment = { fields: { container_id: once } } as const;

/** Tools are declared in the request itself and in items that load more of them. */
const container = { guarded: true, fields: { file_ids: { strings: true } } } as const;
const tool: FieldSpec = { type: { only: providerTool }, model: once, container, environment };
/** Parts of a message, or of what a function answered. */
const parts = { each: { file_id: {} } } as const;

/** What the gateway reads of a request that creates a response (contract: body/guarded-names). */
export const createFields: FieldSpec = {
  ...stateFields,
  ...abilityFields,
  model: {},
  stream: {},
  background: {},
  store: {},
  max_output_tokens: {},
  service_tier: {},
  speed: {},
  prompt_cache_key: {},
  prompt_cache_options: { fields: { comparison_response_id: {} } },
  tools: { each: tool },
  input: {
    elements: keptOfItem,
    each: {
      id: once,
      type: once,
      role: once,
      encrypted_content: unread,
      result: unread,
      container_id: once,
      content: parts,
      output: parts,
      environment,
      tools: { each: tool },
    },
  },
};
