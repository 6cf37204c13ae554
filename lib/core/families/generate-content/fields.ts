import { abilityFields } from '#lib/core/families/generate-content/abilities';
import { referenceFields } from '#lib/core/families/generate-content/references';
import type { FieldSpec } from '#lib/core/families/scan';

/**
 * What the gateway reads of a generateContent body. The provider reads each field in both spellings of
 * the protobuf JSON mapping, so both are one guarded name (contract: body/guarded-names).
 */
export const generateFields: FieldSpec = {
  ...referenceFields,
  model: {},
  generationConfig: {
    aliases: ['generation_config'],
    fields: {
      ...abilityFields,
      maxOutputTokens: { aliases: ['max_output_tokens'] },
      candidateCount: { aliases: ['candidate_count'] },
    },
  },
  serviceTier: { aliases: ['service_tier'] },
  tools: {
    each: {
      googleSearch: { aliases: ['google_search'] },
      googleSearchRetrieval: { aliases: ['google_search_retrieval'] },
      enterpriseWebSearch: { aliases: ['enterprise_web_search'] },
      googleMaps: { aliases: ['google_maps'] },
      fileSearch: { aliases: ['file_search'] },
      urlContext: { aliases: ['url_context'] },
      codeExecution: { aliases: ['code_execution'] },
      mcpServers: { aliases: ['mcp_servers'] },
    },
  },
};

/** What it reads of a countTokens body: where a model or something that is kept may be named. */
export const countFields: FieldSpec = {
  ...referenceFields,
  model: {},
  generateContentRequest: {
    aliases: ['generate_content_request'],
    fields: { ...referenceFields, model: {} },
  },
};
