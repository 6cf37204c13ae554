/** The protocol families (contract: families/native). */
export const familyIds = ['chat', 'responses', 'messages', 'images', 'videos', 'generate-content'] as const;

export type FamilyId = (typeof familyIds)[number];
