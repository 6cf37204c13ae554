import type { Attachment } from '#lib/console/playground/draft';

/** A third more in Base64, below what the gateway takes of a body. */
const mostBytes = 20 * 1024 * 1024;

/** Reads chosen files into memory. @returns `refused`: a sentence about what was left out; null: nothing was. */
export async function readFiles(
  chosen: readonly File[],
  accepted: string,
  held: readonly Attachment[],
): Promise<{ files: Attachment[]; refused: string | null }> {
  const types = accepted.split(',').filter(Boolean);
  const fitting = chosen.filter(({ type }) => types.includes(type));
  const bytes = held.reduce((sum, { base64 }) => sum + base64.length * 0.75, 0);
  const all = fitting.reduce((sum, { size }) => sum + size, bytes);
  if (all > mostBytes) return { files: [], refused: 'Attachments have at most 20 MB together.' };
  const files = await Promise.all(fitting.map(readFile));
  const strange = chosen.find(({ type }) => !types.includes(type));
  const refused = strange
    ? `${strange.name} was left out: the chosen model and protocol take ${types.join(', ') || 'no files'}.`
    : null;
  return { files, refused };
}

function readFile(file: File): Promise<Attachment> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error);
    reader.onload = () => {
      const url = typeof reader.result === 'string' ? reader.result : '';
      resolve({ name: file.name, mediaType: file.type, base64: url.slice(url.indexOf(',') + 1) });
    };
    reader.readAsDataURL(file);
  });
}
