const familyNames: Record<string, string> = {
  chat: 'Chat completions',
  responses: 'Responses',
  messages: 'Messages',
  images: 'Images',
  videos: 'Videos',
  'generate-content': 'Generate content',
  completions: 'Completions (legacy)',
  embeddings: 'Embeddings',
  'embed-content': 'Embed content',
  rerank: 'Rerank',
  moderations: 'Moderations',
  speech: 'Speech',
  transcriptions: 'Transcriptions',
  realtime: 'Realtime',
};

/** The name of a protocol on pages. */
export function showFamily(family: string): string {
  return familyNames[family] ?? family;
}
