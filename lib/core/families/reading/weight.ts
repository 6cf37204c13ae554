import type { InputWeight } from '#lib/core/families/family';
import type { LongString, Scan, Upload } from '#lib/core/families/scan';

/** Short names of audio formats, as `input_audio.format` gives them. */
const audioFormat = /^(wav|mp3|mpeg|mpga|m4a|aac|flac|ogg|opus|webm|pcm16|pcm|g711_ulaw|g711_alaw)$/;

/**
 * What the input weighs (contract: money/media-weight): base64 of over 1 KiB under a key that carries media, by
 * kind; every other byte of the body is text. Of an upload, the files are the media.
 * @param mediaKeys where the family carries media; a long string under any other key is text, whatever
 * a sibling says of it.
 */
export function weigh(scan: Scan, mediaKeys: ReadonlySet<string>, searchTools: number): InputWeight {
  if (scan.upload) return weighUpload(scan.upload, searchTools);
  let images = 0;
  let audioVideoBytes = 0;
  let fileBytes = 0;
  let mediaBytes = 0;
  for (const long of scan.longStrings) {
    if (!long.base64 || !mediaKeys.has(long.key)) continue;
    const bytes = long.end - long.start;
    const kind = kindOf(long);
    if (kind === 'image') images += 1;
    else if (kind === 'sound') audioVideoBytes += bytes;
    else fileBytes += bytes;
    mediaBytes += bytes;
  }
  return { textBytes: scan.body.length - mediaBytes, images, audioVideoBytes, fileBytes, searchTools };
}

function weighUpload({ textBytes, files }: Upload, searchTools: number): InputWeight {
  const bytesOf = (kind: ReturnType<typeof kindOf>) =>
    files.filter((file) => kindOf(file) === kind).reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    textBytes,
    images: files.filter((file) => kindOf(file) === 'image').length,
    audioVideoBytes: bytesOf('sound'),
    fileBytes: bytesOf('file'),
    searchTools,
  };
}

function kindOf({ mediaType }: Pick<LongString, 'mediaType'>): 'image' | 'sound' | 'file' {
  if (mediaType === null) return 'file';
  if (mediaType.startsWith('image/')) return 'image';
  return /^(audio|video)\//.test(mediaType) || audioFormat.test(mediaType) ? 'sound' : 'file';
}
