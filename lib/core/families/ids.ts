/** The protocol families (contract: families/native). */
export const familyIds = [
  'chat',
  'responses',
  'messages',
  'images',
  'videos',
  'generate-content',
  'completions',
  'embeddings',
  'embed-content',
  'rerank',
  'moderations',
  'speech',
  'transcriptions',
  'realtime',
] as const;

export type FamilyId = (typeof familyIds)[number];
