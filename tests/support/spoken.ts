/** A value of a header by which an operation is called; an empty key is none. */
export function spokenValue(header: string): string {
  if (header === 'x-goog-api-key') return '';
  return header === 'x-goog-upload-command' ? 'upload, finalize' : '2023-06-01';
}

/** Headers that begin the upload of a file of 9 bytes in parts. */
export const uploadStart: Readonly<Record<string, string>> = {
  'x-goog-upload-protocol': 'resumable',
  'x-goog-upload-command': 'start',
  'x-goog-upload-header-content-length': '9',
  'x-goog-upload-header-content-type': 'text/plain',
};
